import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addConsentOption, addExamples, addRecordOptions } from "../command-options.ts";
import { describeSource } from "../deployments/describe.ts";
import {
  DEPLOYMENTS,
  noteVariables,
  readDeployment,
  redeploy,
} from "../deployments/find-deployment.ts";
import { findRollback } from "../deployments/find-rollback.ts";
import { addDryRunOption, previewRedeployment } from "../deployments/preview.ts";
import {
  addWaitOptions,
  checkWaitOptions,
  finishWith,
  WAIT_HELP,
  type WaitOptions,
} from "../deployments/watch.ts";
import { CliError } from "../errors.ts";
import { toLocalTime } from "../local-time.ts";
import { requireConsent } from "../prompts.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { addEnvironmentOption, type EnvironmentOptions, requireEnvironment } from "../target.ts";

type Deployment = Schemas["Deployment"];

interface Options extends EnvironmentOptions, WaitOptions {
  to?: string;
  yes?: boolean;
  profile?: string;
}

/** The previous success is often the second. */
const PAGE_ITEMS = 20;

const HELP = `
Redeploys the last successful deployment before the current one, which is the newest that has started or waits to
start. A rollback is a deployment itself: a second one rolls back the first. To go further back, use --to.
${WAIT_HELP}`;

/** `longshore rollback`. */
export function addRollbackCommand(program: Command, context: CliContext): void {
  const command = program
    .command("rollback")
    .description("deploy what was deployed before")
    .option("--to <deployment>", "ID; the last successful one before the current by default");
  addRecordOptions(addDryRunOption(addWaitOptions(command)));
  addConsentOption(addEnvironmentOption(command));
  command.addHelpText("after", HELP);
  addExamples(command, "rollback --wait", "rollback --to 1CgMoo6Wfj9u5hu6v1REVC --yes");
  command.action((_, self: Command) => rollBack(context, self.optsWithGlobals()));
}

async function rollBack(context: CliContext, options: Options): Promise<void> {
  checkWaitOptions(options);
  const session = await openSession(context, options);
  const target = await findTarget(context, session, options);
  const what = describe(target);
  if (options.dryRun) {
    context.output.note(`It would roll back to ${what}.`);
    return previewRedeployment(context, session, target.id, options);
  }
  await noteVariables(context, session, target.id);
  await requireConsent(context, `Roll back to ${what}?`, options);
  context.output.note(`Rolling back to ${what}.`);
  await finishWith(context, session, await redeploy(session, target.id), options);
}

async function findTarget(
  context: CliContext,
  session: Session,
  options: Options,
): Promise<Deployment> {
  if (options.to === undefined) return findPrevious(context, session, options);
  const target = await readDeployment(session, options.to);
  if (target.status === "succeeded") return target;
  throw new CliError(
    `The deployment ${target.id} is ${target.status}. Roll back to one that has succeeded, or use: longshore deployments redeploy ${target.id}`,
  );
}

async function findPrevious(
  context: CliContext,
  session: Session,
  options: Options,
): Promise<Deployment> {
  const { id, name } = await requireEnvironment(context, session, options);
  const path = { environment_id: id };
  const deployments = session.client.list(DEPLOYMENTS, { path, query: { limit: PAGE_ITEMS } });
  const rollback = await findRollback(deployments);
  if (rollback) return rollback.previous;
  throw new CliError(
    `The environment ${name} has no successful deployment before its current one. Name one with --to.`,
  );
}

function describe({ id, created_at, data, stack_ids }: Deployment): string {
  const source = describeSource(data.source);
  const stacks = stack_ids.length === 1 ? "1 stack" : `${stack_ids.length} stacks`;
  return `the deployment ${id} of ${toLocalTime(created_at)} (${[source ?? [], stacks].flat().join(", ")})`;
}
