import type { ApiClient } from "./api.ts";
import type {
  Claim,
  Completion,
  DeliveredVariables,
  Deployment,
  Outcome,
  StackReport,
} from "./api-types.ts";
import { AttemptLog, sendToLog } from "./attempt-log.ts";
import { type CommandResult, runCommand } from "./command.ts";
import { ApiError, RunnerError } from "./errors.ts";
import { type HaltReason, Lease } from "./lease.ts";
import type { Options } from "./options.ts";
import { type PatchFile, writePatchFile } from "./patch-file.ts";
import { lacksComponentsOfStacks, variablesOfStack } from "./stack-variables.ts";
import type { TerminalOutput } from "./terminal-output.ts";
import type { Upload } from "./uploads.ts";

const NO_VARIABLES: DeliveredVariables = { variables: [] };
const PATCH_CONFLICT = "patch_conflict";
/** The server accepts messages of 2,000 characters. */
const MAXIMUM_NAMES_LENGTH = 1_500;

/** The final status from the server; `lost` if this runner no longer holds the attempt. */
export interface AttemptResult {
  status: Outcome | "lost";
  reason?: string | undefined;
}

const LOST: AttemptResult = { status: "lost" };

export interface OutputOptions {
  terminal: TerminalOutput;
  /** Takes the upload of the log, which continues after the attempt. */
  onUpload(upload: Upload): void;
}

export interface Signals {
  /** Aborted when the operator asks the runner to end. */
  ending: AbortSignal;
  /** Aborted when the operator asks again, to end immediately. */
  force: AbortSignal;
}

const COMPLETIONS = {
  canceled: {
    outcome: "canceled",
    message: "The command was stopped: the server asked to cancel.",
  },
  interrupted: {
    outcome: "canceled",
    message: "The command was stopped: its runner was told to end.",
  },
  lease_expired: {
    outcome: "failed",
    failure_reason: "lease_expired",
    message: "The command was stopped: the server did not answer for as long as the lease is.",
  },
} as const satisfies Record<Exclude<HaltReason, "lost">, Completion>;

/**
 * Executes a claimed deployment. After the start, a signal stops the command and completes as
 * canceled: without a completion, the deployment stays `in_progress` until the runner counts as lost.
 */
export async function executeAttempt(
  api: ApiClient,
  claim: Claim,
  options: Options,
  { ending, force, ...output }: Signals & OutputOptions,
): Promise<AttemptResult> {
  const lease = new Lease(api, claim);
  const log = new AttemptLog(sendToLog(api, claim), output.terminal);
  const interrupt = () => lease.halt("interrupted");
  ending.addEventListener("abort", interrupt, { once: true });
  try {
    const deployment = await lease.start();
    console.log(`Deployment ${deployment.id}: started.`);
    if (ending.aborted) interrupt();
    const completion = await executeDeployment(lease, deployment, options, { force, log });
    if (lease.haltReason === "lost") return LOST;
    const declared = log.complete();
    output.onUpload(log);
    const { status, failure_reason } = await lease.complete({ ...completion, ...declared });
    return { status, reason: failure_reason };
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    if (error instanceof ApiError && error.reason === PATCH_CONFLICT) {
      console.error(error.serverMessage);
      return { status: "failed", reason: PATCH_CONFLICT };
    }
    console.error(error.message);
    return LOST;
  } finally {
    ending.removeEventListener("abort", interrupt);
    lease.end();
    log.stopUnlessComplete();
  }
}

/** The patch file exists only during the execution. */
async function executeDeployment(
  lease: Lease,
  deployment: Deployment,
  options: Options,
  { force, log }: { force: AbortSignal; log: AttemptLog },
): Promise<Completion> {
  let patchFile: PatchFile;
  try {
    patchFile = writePatchFile(deployment.data.patch);
  } catch (error) {
    const { code = "an unknown error" } = error as NodeJS.ErrnoException;
    const message = `The patch could not be written to a file: ${code}.`;
    console.error(message);
    return { outcome: "failed", failure_reason: "patch_not_written", message };
  }
  try {
    return await deployStacks(lease, deployment, options, {
      force,
      log,
      patchPath: patchFile.path,
    });
  } finally {
    patchFile.remove();
  }
}

/** Deploys the stacks in order until one fails; the server marks the rest as skipped. */
async function deployStacks(
  lease: Lease,
  deployment: Deployment,
  options: Options,
  { force, log, patchPath }: { force: AbortSignal; log: AttemptLog; patchPath: string },
): Promise<Completion> {
  // Read once: the server allows it only with a recent heartbeat, and audits every read.
  const delivered = lease.halted.aborted ? NO_VARIABLES : await lease.readVariables();
  if (lacksComponentsOfStacks(delivered)) return refuseServer();
  const { stack_ids: stackIds } = deployment;
  const names = stackIds.flatMap((id) => variablesOfStack(delivered, id).map(({ name }) => name));
  const refused = options.environment.findRefused(names);
  if (refused.length > 0) return toRefusal(refused);
  log.start(delivered.variables, lease.intervals);
  for (const stackId of stackIds) {
    if (lease.halted.aborted) break;
    const env = options.environment.create([
      ...variablesOfStack(delivered, stackId),
      { name: "LONGSHORE_DEPLOYMENT", value: deployment.id },
      { name: "LONGSHORE_STACK", value: stackId },
      { name: "LONGSHORE_SOURCE", value: JSON.stringify(deployment.data.source ?? {}) },
      { name: "LONGSHORE_PATCH_FILE", value: patchPath },
    ]);
    const failure = await deployStack(lease, stackId, options, { env, force, log });
    if (failure && !lease.halted.aborted) {
      return { outcome: "failed", failure_reason: "stack_failed", message: failure };
    }
  }
  return completionOfHalt(lease) ?? { outcome: "succeeded" };
}

function refuseServer(): Completion {
  const message =
    "The server does not say which component each stack belongs to, so that a stack could get the " +
    "variables of another component. Update the server.";
  console.error(message);
  return { outcome: "failed", failure_reason: "server_outdated", message };
}

function toRefusal(names: readonly string[]): Completion {
  const list = names.join(", ");
  const isLong = list.length > MAXIMUM_NAMES_LENGTH;
  const message =
    `Refused variables: ${isLong ? `${list.slice(0, MAXIMUM_NAMES_LENGTH)}…` : list}. Such a name ` +
    "changes how programs load or run, or replaces what the runner sets. Rename or delete the " +
    "variable, or start the runner with --allow-variable NAME for each.";
  console.error(message);
  return { outcome: "failed", failure_reason: "variable_refused", message };
}

/** Returns the reason if the stack failed. */
async function deployStack(
  lease: Lease,
  stackId: string,
  { command, graceMs }: Options,
  { env, force, log }: { env: NodeJS.Dict<string>; force: AbortSignal; log: AttemptLog },
): Promise<string | undefined> {
  await lease.report(stackId, { seq: 1, status: "in_progress" });
  if (lease.halted.aborted) return undefined;
  console.log(`Stack ${stackId}: in progress.`);
  const onOutput = (bytes: Buffer) => log.write(stackId, bytes);
  const result = await runCommand(command, env, { stop: lease.halted, force, graceMs, onOutput });
  await log.endStack(stackId);
  if (lease.haltReason === "lost") return undefined;
  const report: Omit<StackReport, "seq"> = toReport(result, lease.haltReason);
  console.log(`Stack ${stackId}: ${report.status}. ${report.status_reason ?? ""}`.trimEnd());
  await lease.report(stackId, { seq: 2, ...report });
  return report.status === "failed" ? report.status_reason : undefined;
}

/** A stopped command did not fail. A command that succeeded before the stop counts as succeeded. */
function toReport(
  { ok, reason = "" }: CommandResult,
  haltReason: Exclude<HaltReason, "lost"> | undefined,
) {
  if (ok) return { status: "succeeded" } as const;
  if (!haltReason) return { status: "failed", status_reason: reason } as const;
  const { outcome, message } = COMPLETIONS[haltReason];
  return { status: outcome, status_reason: message } as const;
}

function completionOfHalt({ haltReason }: Lease): Completion | undefined {
  return haltReason === undefined || haltReason === "lost" ? undefined : COMPLETIONS[haltReason];
}

/** Lets another runner claim an unstarted deployment at once. If this fails, the offer lapses. */
export async function release(api: ApiClient, { attempt_id, lease_token, deployment }: Claim) {
  try {
    await api.send("POST", `/v1/runner/attempts/${attempt_id}/release`, {
      leaseToken: lease_token,
      retryForMs: 5_000,
    });
    console.log(`Deployment ${deployment.id}: given back.`);
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    console.error(error.message);
  }
}
