import { type Command, Option } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples, addRecordOptions, collect } from "../command-options.ts";
import { findStacks, readReason } from "../deployments/creation-options.ts";
import {
  describeCreator,
  describeReason,
  describeSeconds,
  describeSource,
} from "../deployments/describe.ts";
import {
  ACTIVE,
  DEPLOYMENTS,
  findDeployment,
  noteVariables,
  readDeployment,
  redeploy,
  SUCCEEDED,
} from "../deployments/find-deployment.ts";
import { addDryRunOption, previewRedeployment, printPreview } from "../deployments/preview.ts";
import { printDetails } from "../deployments/print-details.ts";
import {
  addWaitOptions,
  checkWaitOptions,
  finishWith,
  WAIT_HELP,
  type WaitOptions,
} from "../deployments/watch.ts";
import { toLocalTime } from "../local-time.ts";
import { KINDS } from "../named-kinds.ts";
import { findRecord } from "../names.ts";
import { requireConsent } from "../prompts.ts";
import { addLimitOption } from "../resource.ts";
import { type CliContext, openSession } from "../session.ts";
import type { Column } from "../table.ts";
import { addEnvironmentOption, type EnvironmentOptions, requireEnvironment } from "../target.ts";
import { addDeployCommand } from "./deploy.ts";
import { addLogsCommand } from "./logs.ts";
import { addRollbackCommand } from "./rollback.ts";

type Deployment = Schemas["Deployment"];

interface Options extends EnvironmentOptions, WaitOptions {
  limit: number;
  status?: Deployment["status"][];
  to?: string;
  yes?: boolean;
  profile?: string;
}

const STATUSES = [
  "queued",
  "in_progress",
  "canceling",
  "succeeded",
  "failed",
  "canceled",
  "superseded",
] as const satisfies readonly Deployment["status"][];

/** @param liveId The deployment that its environment runs: the newest success. */
const columnsOf = (liveId: string | undefined): readonly Column<Deployment>[] => [
  { title: "id", value: ({ id }) => id },
  { title: "status", value: ({ id, status }) => (id === liveId ? `${status} (live)` : status) },
  { title: "source", value: ({ data }) => describeSource(data.source) },
  { title: "who", value: ({ created_by }) => describeCreator(created_by) },
  { title: "why", value: describeReason },
  { title: "created", value: ({ created_at }) => toLocalTime(created_at) },
  { title: "waited", value: ({ queued_seconds }) => describeSeconds(queued_seconds) },
  { title: "took", value: ({ run_seconds }) => describeSeconds(run_seconds) },
];

const ID_OR_NEWEST = "ID; the newest of the environment by default";

/** `longshore deploy`, `deployments`, `rollback` and `logs`. */
export function addDeploymentCommands(program: Command, context: CliContext): void {
  addDeployCommand(program, context);
  const group = program.command("deployments").description("deployments of an environment");
  addListCommand(group, context);
  addShowCommand(group, context);
  addCancelCommand(group, context);
  addRedeployCommand(group, context);
  addPromoteCommand(group, context);
  addRollbackCommand(program, context);
  addLogsCommand(program, context);
}

function addListCommand(group: Command, context: CliContext): void {
  const command = group
    .command("ls")
    .description("list the deployments of an environment, newest first")
    .addOption(new Option("--status <status...>", "only with one of these").choices(STATUSES));
  addEnvironmentOption(addRecordOptions(addLimitOption(command)));
  addExamples(
    command,
    "deployments ls --limit 10",
    "deployments ls --status failed canceled --json",
  );
  command.action(async (_, self: Command) => {
    const options = self.optsWithGlobals<Options>();
    const session = await openSession(context, options);
    const { id, name } = await requireEnvironment(context, session, options);
    const { rows, hasMore } = await session.list<Deployment>(DEPLOYMENTS, {
      path: { environment_id: id },
      query: { status: options.status },
      limit: options.limit,
    });
    const { output } = context;
    // A filter by status leaves out all successes or none.
    const live = rows.find(({ status }) => status === "succeeded");
    output.records(rows, columnsOf(live?.id), { ...options, id: (row) => row.id });
    if (rows.length === 0 && !options.json) output.note(`There are no deployments of ${name}.`);
    if (hasMore) output.note(`There are more than ${options.limit}: add --limit.`);
  });
}

function addShowCommand(group: Command, context: CliContext): void {
  const command = group
    .command("show")
    .description("print a deployment: its stacks, its source, and its patch as a diff")
    .argument("[deployment]", ID_OR_NEWEST);
  addEnvironmentOption(addRecordOptions(command));
  addExamples(command, "deployments show", "deployments show 1CgMoo6Wfj9u5hu6v1REVC --json");
  command.action(async (id: string | undefined, _, self: Command) => {
    const options = self.optsWithGlobals<Options>();
    const session = await openSession(context, options);
    const found = await findDeployment(context, session, id, options);
    // A list does not say what a deployment waits for.
    const isWaiting = found.status === "queued" && !found.waiting_for;
    const deployment = isWaiting ? await readDeployment(session, found.id) : found;
    await printDetails(context, session, deployment, options);
  });
}

function addCancelCommand(group: Command, context: CliContext): void {
  const command = group
    .command("cancel")
    .description("cancel a deployment")
    .argument("[deployment]", "ID; the newest of the environment that has not ended by default");
  addConsentOption(addEnvironmentOption(addRecordOptions(addWaitOptions(command))));
  command.addHelpText("after", WAIT_HELP);
  addExamples(
    command,
    "deployments cancel",
    "deployments cancel 1CgMoo6Wfj9u5hu6v1REVC --yes --wait || [ $? = 3 ]",
  );
  command.action(async (id: string | undefined, _, self: Command) => {
    const options = self.optsWithGlobals<Options>();
    checkWaitOptions(options);
    const session = await openSession(context, options);
    const found = await findDeployment(context, session, id, options, ACTIVE);
    const source = describeSource(found.data.source);
    const what = source === undefined ? found.id : `${found.id} (${source})`;
    await requireConsent(context, `Cancel the deployment ${what}?`, options);
    const canceled = await session.client.patch("/v1/deployments/{deployment_id}/cancel", {
      path: { deployment_id: found.id },
    });
    await finishWith(context, session, canceled, options);
  });
}

function addRedeployCommand(group: Command, context: CliContext): void {
  const command = group
    .command("redeploy")
    .description("deploy the configuration and the source of a deployment again")
    .argument("<deployment>", "ID");
  addRecordOptions(addDryRunOption(addWaitOptions(command))).addHelpText("after", WAIT_HELP);
  addExamples(command, "deployments redeploy 1CgMoo6Wfj9u5hu6v1REVC --wait");
  command.action(async (id: string, _, self: Command) => {
    const options = self.optsWithGlobals<Options>();
    checkWaitOptions(options);
    const session = await openSession(context, options);
    const { id: found } = await readDeployment(session, id);
    if (options.dryRun) return previewRedeployment(context, session, found, options);
    await noteVariables(context, session, found);
    await finishWith(context, session, await redeploy(session, found), options);
  });
}

function addPromoteCommand(group: Command, context: CliContext): void {
  const command = group
    .command("promote")
    .description("deploy what has succeeded in one environment to another of the project")
    .argument("[deployment]", "ID; the environment's newest success by default")
    .requiredOption("--to <environment>", "name or ID")
    .option("--stack <name>", "only this stack there, by name or ID; may be repeated", collect)
    .option("--reason <text>", "why the deployment is made");
  const withTarget = addEnvironmentOption(addDryRunOption(addWaitOptions(command)));
  addRecordOptions(withTarget).addHelpText("after", WAIT_HELP);
  addExamples(
    command,
    "deployments promote --to production --wait",
    "deployments promote 1CgMoo6Wfj9u5hu6v1REVC --to production --stack web --reason 'Release 4'",
  );
  command.action((id: string | undefined, _, self: Command) =>
    promote(context, id, self.optsWithGlobals()),
  );
}

async function promote(
  context: CliContext,
  id: string | undefined,
  options: Options & { to: string; stack?: string[]; reason?: string },
): Promise<void> {
  checkWaitOptions(options);
  const session = await openSession(context, options);
  const deployment = await findDeployment(context, session, id, options, SUCCEEDED);
  const from = await session.client.get("/v1/environments/{environment_id}", {
    path: { environment_id: deployment.environment_id },
  });
  const project = { project_id: from.project_id };
  const to = await findRecord<Schemas["Environment"]>(
    session,
    KINDS.environment,
    project,
    options.to,
  );
  const path = { deployment_id: deployment.id };
  const stack_ids = await findStacks(session, { environment_id: to.id }, options.stack);
  const reason = readReason(context, options);
  if (options.dryRun) {
    const preview = await session.client.get(
      "/v1/deployments/{deployment_id}/promotion/{environment_id}",
      { path: { ...path, environment_id: to.id }, query: { ...(stack_ids && { stack_ids }) } },
    );
    return printPreview(context, session, preview, options);
  }
  const body = {
    environment_id: to.id,
    ...(stack_ids && { stack_ids }),
    ...(reason !== undefined && { reason }),
  };
  const promoted = await session.client.post("/v1/deployments/{deployment_id}/promote", {
    path,
    body,
  });
  await finishWith(context, session, promoted, options);
}
