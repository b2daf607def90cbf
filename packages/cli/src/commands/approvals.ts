import { type Command, Option } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples, addRecordOptions } from "../command-options.ts";
import { requireApprover } from "../deployments/approver.ts";
import { describeSource } from "../deployments/describe.ts";
import { findDeployment, QUEUED, readDeployment } from "../deployments/find-deployment.ts";
import { reasonsToWait } from "../deployments/follow.ts";
import { printContent } from "../deployments/print-content.ts";
import { printDetails } from "../deployments/print-details.ts";
import { CliError } from "../errors.ts";
import { toLocalTime } from "../local-time.ts";
import type { RecordOptions } from "../output.ts";
import { requireConsent } from "../prompts.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { type Column, renderTable } from "../table.ts";
import { addEnvironmentOption, type EnvironmentOptions } from "../target.ts";

type Deployment = Schemas["Deployment"];
type Approval = Schemas["Approval"];
type Condition = Schemas["OverrideDeployment"]["conditions"][number];

interface Options extends EnvironmentOptions, RecordOptions {
  comment?: string;
  yes?: boolean;
  profile?: string;
}

interface OverrideOptions extends Options {
  reason: string;
  condition: Condition[];
}

const APPROVALS = "/v1/deployments/{deployment_id}/approvals";
const ID_OR_QUEUED = "ID; the newest of the environment that is queued by default";
const CONDITIONS = [
  "approvals",
  "from",
  "sources",
  "window",
  "freeze",
] as const satisfies readonly Condition[];

const COLUMNS: readonly Column<Approval>[] = [
  { title: "at", value: ({ created_at }) => toLocalTime(created_at) },
  { title: "who", value: ({ name, membership_id }) => name ?? membership_id },
  { title: "decision", value: ({ decision }) => decision },
  { title: "comment", value: ({ comment }) => comment },
];

const PENDING_COLUMNS: readonly Column<Schemas["PendingApproval"]>[] = [
  { title: "deployment", value: (each) => each.deployment_id },
  { title: "project", value: (each) => each.project_name },
  { title: "environment", value: (each) => each.environment_name },
  { title: "source", value: ({ source }) => describeSource(source) },
  { title: "waits for", value: ({ message }) => message },
  { title: "created", value: ({ created_at }) => toLocalTime(created_at) },
  { title: "expires", value: ({ expires_at }) => toLocalTime(expires_at) },
];

/** `longshore approvals`, `approve`, `reject` and `override`. */
export function addApprovalCommands(program: Command, context: CliContext): void {
  const approvals = program
    .command("approvals")
    .description(
      "what waits for your approval, in all projects; with a deployment or --environment, who has decided on it",
    )
    .argument("[deployment]", "ID; with --environment, the newest that is queued by default");
  addExamples(
    addEnvironmentOption(addRecordOptions(approvals)),
    "approvals",
    "approvals --environment production",
  ).action((id: string | undefined, _, self: Command) =>
    approvalsOf(context, id, self.optsWithGlobals()),
  );
  const approve = addDecision(program, "approve", "let a deployment start with what it shows");
  addExamples(addConsentOption(approve), "approve --comment 'Read the diff'").action(
    (id: string | undefined, _, self: Command) =>
      approveDeployment(context, id, self.optsWithGlobals()),
  );
  const reject = addDecision(program, "reject", "end a deployment that waits for approvals");
  addExamples(reject, "reject --comment 'Not before the release'").action(
    (id: string | undefined, _, self: Command) =>
      rejectDeployment(context, id, self.optsWithGlobals()),
  );
  addOverrideCommand(program, context);
}

function addDecision(program: Command, name: string, description: string): Command {
  const command = program
    .command(name)
    .description(description)
    .argument("[deployment]", ID_OR_QUEUED)
    .option("--comment <text>", "why");
  return addEnvironmentOption(addRecordOptions(command));
}

function addOverrideCommand(program: Command, context: CliContext): void {
  const command = program
    .command("override")
    .description("start a deployment in spite of its environment's rules")
    .argument("[deployment]", ID_OR_QUEUED)
    .requiredOption("--reason <text>", "why; everybody who sees the deployment reads it")
    .addOption(
      new Option("--condition <condition...>", "what does not need to be met")
        .choices(CONDITIONS)
        .makeOptionMandatory(),
    );
  addExamples(
    addConsentOption(addEnvironmentOption(addRecordOptions(command))),
    "override --condition freeze --reason 'Repairs the checkout'",
  ).action((id: string | undefined, _, self: Command) =>
    override(context, id, self.optsWithGlobals()),
  );
}

async function approvalsOf(context: CliContext, id: string | undefined, options: Options) {
  const { environment, project } = options;
  const isOfAll = id === undefined && environment === undefined && project === undefined;
  await (isOfAll ? listPending(context, options) : list(context, id, options));
}

/** What the caller may approve, in all projects. */
async function listPending(context: CliContext, options: Options) {
  const session = await openSession(context, options);
  const path = { org_id: await session.organizationId() };
  const { data } = await session.client.get("/v1/orgs/{org_id}/approvals", { path });
  context.output.records(data, PENDING_COLUMNS, { ...options, id: (row) => row.deployment_id });
  if (data.length === 0 && !options.json) context.output.note("Nothing waits for your approval.");
}

async function list(context: CliContext, id: string | undefined, options: Options) {
  const session = await openSession(context, options);
  const deployment = await findDeployment(context, session, id, options, QUEUED);
  const { data } = await session.client.get(APPROVALS, { path: toPath(deployment) });
  context.output.records(data, COLUMNS, { ...options, id: (row) => row.id });
  if (options.json || options.quiet) return;
  if (data.length === 0) context.output.note("Nobody has approved or rejected it.");
  // A list of deployments does not say what they wait for.
  const waiting = id === undefined ? await readDeployment(session, deployment.id) : deployment;
  for (const reason of reasonsToWait(waiting)) context.output.note(`Waiting: ${reason}`);
}

/** The digest makes it an approval of what was shown, and of nothing else. */
async function approveDeployment(context: CliContext, id: string | undefined, options: Options) {
  const session = await openSession(context, options);
  const deployment = await findDeployment(context, session, id, options, QUEUED);
  await requireApprover(session, deployment.id);
  const { diff, digest } = await session.client.get(
    "/v1/deployments/{deployment_id}/configuration",
    { path: toPath(deployment) },
  );
  if (digest === undefined) {
    throw new CliError(
      `The deployment ${deployment.id} cannot start any more: its changes no longer apply to the configuration. Nothing was approved. Run: longshore reject ${deployment.id}`,
    );
  }
  await show(context, session, deployment, { options, diff });
  await requireConsent(context, `Approve the deployment ${deployment.id}?`, options);
  await send(context, session, deployment, {
    options,
    body: { decision: "approve", digest },
  });
}

async function rejectDeployment(context: CliContext, id: string | undefined, options: Options) {
  const session = await openSession(context, options);
  const deployment = await findDeployment(context, session, id, options, QUEUED);
  await show(context, session, deployment, { options });
  await send(context, session, deployment, { options, body: { decision: "reject" } });
}

async function show(
  context: CliContext,
  session: Session,
  deployment: Deployment,
  { options, diff = [] }: { options: Options; diff?: Schemas["PatchOperation"][] | undefined },
) {
  if (options.json || options.quiet) return;
  await printContent(context, session, deployment, diff);
  context.output.print("");
}

async function send(
  { output }: CliContext,
  session: Session,
  deployment: Deployment,
  { options, body }: { options: Options; body: Schemas["CreateApproval"] },
) {
  const { comment } = options;
  const approval = await session.client.post(APPROVALS, {
    path: toPath(deployment),
    body: { ...body, ...(comment !== undefined && { comment }) },
  });
  if (options.json || options.quiet) output.record(approval, { ...options, id: (row) => row.id });
  else output.print(renderTable(COLUMNS, [approval]));
}

async function override(context: CliContext, id: string | undefined, options: OverrideOptions) {
  const session = await openSession(context, options);
  const deployment = await findDeployment(context, session, id, options, QUEUED);
  const { reason, condition: conditions } = options;
  const question = `Start ${deployment.id} in spite of: ${conditions.join(", ")}?`;
  await requireConsent(context, question, options);
  const overridden = await session.client.post("/v1/deployments/{deployment_id}/override", {
    path: toPath(deployment),
    body: { reason, conditions },
  });
  await printDetails(context, session, overridden, options);
}

function toPath({ id }: Deployment) {
  return { deployment_id: id };
}
