import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { CliError } from "../errors.ts";
import type { RecordOptions } from "../output.ts";
import { toPlainText } from "../plain-text.ts";
import type { CliContext, Session } from "../session.ts";
import { explainOutcome, explainStacks } from "./describe.ts";
import { type DeploymentDisplay, NO_DISPLAY, PlainDisplay } from "./display.ts";
import { parseDuration } from "./duration.ts";
import { exitCodeOf, followDeployment, reasonsToWait } from "./follow.ts";
import { Interruption } from "./interruption.ts";
import { LiveDisplay } from "./live-display.ts";
import { readDeployedStacks, renderOutputs } from "./outputs.ts";
import { StackNames } from "./stack-names.ts";

type Deployment = Schemas["Deployment"];

export interface WaitOptions extends RecordOptions {
  wait?: boolean;
  /** In milliseconds. */
  timeout?: number;
  dryRun?: boolean;
}

export const WAIT_HELP = `
With --wait, the exit code is the outcome of the deployment, whatever its log does: 0 succeeded, 2 failed,
3 canceled, 4 superseded, 5 not ended within --timeout, 6 no response of the service for 5 minutes. The last
lines are the outputs of a success.`;

export function addWaitOptions(command: Command): Command {
  return command
    .option("-w, --wait", "follow the deployment to its end, and exit with its outcome")
    .option("--timeout <duration>", "with --wait: for how long, such as 90s or 10m", parseDuration);
}

/** Prints a deployment that was created or canceled or, with `--wait`, follows it to its end. */
export async function finishWith(
  context: CliContext,
  session: Session,
  deployment: Deployment,
  options: WaitOptions,
): Promise<void> {
  if (!options.wait) {
    printDeployment(context, session, deployment, options);
    return;
  }
  const ended = await watch(context, session, deployment, options);
  if (options.json || options.quiet) printDeployment(context, session, ended, options);
  else if (ended.status === "succeeded") await printOutputs(context, session, ended);
  context.exitCode = exitCodeOf(ended.status);
}

/** @throws CliError for options that exclude each other. */
export function checkWaitOptions({ wait, timeout, quiet, dryRun }: WaitOptions): void {
  if (dryRun && (wait || quiet)) {
    throw new CliError("--dry-run creates nothing: omit --wait and --quiet.");
  }
  if (timeout !== undefined && !wait) throw new CliError("--timeout needs --wait.");
}

async function printOutputs({ output }: CliContext, session: Session, deployment: Deployment) {
  const lines = renderOutputs(await readDeployedStacks(session, deployment));
  if (lines) output.print(lines);
}

function printDeployment(
  context: CliContext,
  session: Session,
  deployment: Deployment,
  options: RecordOptions,
) {
  if (options.json || options.quiet) {
    context.output.record(deployment, { ...options, id: ({ id }) => id });
    return;
  }
  const { id, status, created_at } = deployment;
  const record = { id, status, created_at, link: session.linkTo(id) };
  context.output.record(record, { id: (row) => row.id });
  for (const reason of reasonsToWait(deployment)) context.output.note(`Waiting: ${reason}`);
}

async function watch(
  context: CliContext,
  session: Session,
  deployment: Deployment,
  options: WaitOptions,
): Promise<Deployment> {
  const { output } = context;
  // The exit code is the outcome, also for a reader such as head that ends before.
  output.needsReader = false;
  const note = (text: string) => options.quiet || output.note(text);
  note(`Deployment ${deployment.id}: ${session.linkTo(deployment.id)}`);
  const names = await StackNames.read(session, deployment.environment_id);
  const display = openDisplay(context, names, deployment.id, options);
  const interruption = new Interruption(context, session, deployment.id, display);
  let isIncomplete = false;
  try {
    const ended = await followDeployment(session.client, deployment.id, {
      signal: interruption.signal,
      timeoutMs: options.timeout,
      onLine: (line) => display.onLine(line),
      onStatus: (progress) => display.onStatus(progress),
      onIncompleteLog: () => {
        isIncomplete = true;
      },
    });
    await interruption.end();
    display.close();
    for (const line of reasonsOf(ended, names)) output.note(line);
    if (isIncomplete) output.note(`The rest of the log is late. Run: longshore logs ${ended.id}`);
    note(`The deployment is ${ended.status}.`);
    return ended;
  } catch (error) {
    await interruption.end();
    display.close();
    throw error;
  }
}

function openDisplay(
  { output, environment }: CliContext,
  names: StackNames,
  deploymentId: string,
  { json, quiet }: RecordOptions,
): DeploymentDisplay {
  if (quiet) return NO_DISPLAY;
  const isLive = output.stdout.isTTY && environment["TERM"] !== "dumb" && !json;
  if (!isLive) return new PlainDisplay(output, names, { isLogOnStderr: json === true });
  return new LiveDisplay(output, names, deploymentId);
}

function reasonsOf(deployment: Deployment, names: StackNames): string[] {
  const outcome = explainOutcome(deployment);
  const stacks = explainStacks(deployment);
  return [
    ...[...stacks].map(([id, reason]) => `The stack ${names.of(id)}: ${toPlainText(reason)}`),
    ...(outcome === undefined ? [] : [`The deployment: ${toPlainText(outcome)}`]),
  ];
}
