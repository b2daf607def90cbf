import { type Api, Refusal } from "./api.ts";
import { type Ended, runCommand } from "./command.ts";
import { Failure } from "./errors.ts";
import { type Halt, Hold } from "./lease.ts";
import type { Options } from "./options.ts";
import { type PatchFile, writePatchFile } from "./patch-file.ts";
import type { Claim, Completion, Deployment, Outcome, StackReport } from "./api-types.ts";

const PATCH_CONFLICT = "patch_conflict";

/**
 * How a deployment has ended, as the server says. `lost`: another runner may have it now, or none;
 * the server has decided without this one.
 */
export interface Result {
  status: Outcome | "lost";
  reason?: string | undefined;
}

const LOST: Result = { status: "lost" };

export interface Signals {
  /** Whoever runs this runner wants it to end. */
  ending: AbortSignal;
  /** And does not want to wait. */
  force: AbortSignal;
}

const WORDS = {
  canceled: {
    outcome: "canceled",
    message: "The command was stopped: the server asked to cancel.",
  },
  interrupted: {
    outcome: "canceled",
    message: "The command was stopped: its runner was told to end.",
  },
  unheard: {
    outcome: "failed",
    failure_reason: "lease_expired",
    message: "The command was stopped: the server did not answer for as long as the lease is.",
  },
} as const satisfies Record<Exclude<Halt, "lost">, Completion>;

/**
 * Carries a claimed deployment out. A signal after the start stops the command and completes as
 * canceled, because a deployment that has begun is never queued again: to end without a word would
 * leave it `in_progress` until it counts as lost.
 */
export async function carryOut(
  api: Api,
  claim: Claim,
  options: Options,
  { ending, force }: Signals,
): Promise<Result> {
  const hold = new Hold(api, claim);
  const interrupt = () => hold.giveUp("interrupted");
  ending.addEventListener("abort", interrupt, { once: true });
  try {
    const deployment = await hold.start();
    console.log(`Deployment ${deployment.id}: started.`);
    if (ending.aborted) interrupt();
    const completion = await work(hold, deployment, options, force);
    if (hold.halt === "lost") return LOST;
    const { status, failure_reason } = await hold.complete(completion);
    return { status, reason: failure_reason };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error instanceof Refusal && error.reason === PATCH_CONFLICT) {
      console.error(error.explanation);
      return { status: "failed", reason: PATCH_CONFLICT };
    }
    console.error(error.message);
    return LOST;
  } finally {
    ending.removeEventListener("abort", interrupt);
    hold.end();
  }
}

/** Works with the patch in a file, which is there as long as the work takes. */
async function work(
  hold: Hold,
  deployment: Deployment,
  options: Options,
  force: AbortSignal,
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
    return await deployStacks(hold, deployment, options, { force, patchPath: patchFile.path });
  } finally {
    patchFile.remove();
  }
}

/** The stacks one after the other, until one fails: what is left over, the server marks as skipped. */
async function deployStacks(
  hold: Hold,
  deployment: Deployment,
  options: Options,
  { force, patchPath }: { force: AbortSignal; patchPath: string },
): Promise<Completion> {
  const variables = hold.halted.aborted ? [] : await readVariables(hold);
  for (const stackId of deployment.stack_ids) {
    if (hold.halted.aborted) break;
    const env = {
      ...toEnvironment(deployment, variables),
      LONGSHORE_STACK: stackId,
      LONGSHORE_PATCH_FILE: patchPath,
    };
    const failure = await deployStack(hold, stackId, options, env, force);
    if (failure && !hold.halted.aborted) {
      return { outcome: "failed", failure_reason: "stack_failed", message: failure };
    }
  }
  return endOf(hold) ?? { outcome: "succeeded" };
}

/** They are read once, while the lease is young: a later read would go on record again. */
async function readVariables(hold: Hold) {
  const variables = await hold.readVariables();
  const names = variables.map(({ name }) => name);
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  for (const name of repeated) {
    console.error(`${name} is there more than once; the newest holds.`);
  }
  return variables;
}

/** Why the stack failed, if it did. */
async function deployStack(
  hold: Hold,
  stackId: string,
  { command, graceMs }: Options,
  env: NodeJS.ProcessEnv,
  force: AbortSignal,
): Promise<string | undefined> {
  await hold.report(stackId, { seq: 1, status: "in_progress" });
  if (hold.halted.aborted) return undefined;
  console.log(`Stack ${stackId}: in progress.`);
  const ended = await runCommand(command, env, { stop: hold.halted, force, graceMs });
  if (hold.halt === "lost") return undefined;
  const report: Omit<StackReport, "seq"> = toReport(ended, hold.halt);
  console.log(`Stack ${stackId}: ${report.status}. ${report.status_reason ?? ""}`.trimEnd());
  await hold.report(stackId, { seq: 2, ...report });
  return report.status === "failed" ? report.status_reason : undefined;
}

/** A command that was stopped did not fail, but what it had done to its end is done. */
function toReport({ ok, reason = "" }: Ended, halt: Exclude<Halt, "lost"> | undefined) {
  if (ok) return { status: "succeeded" } as const;
  if (!halt) return { status: "failed", status_reason: reason } as const;
  const { outcome, message } = WORDS[halt];
  return { status: outcome, status_reason: message } as const;
}

/** What is left to say when the work was ended before its end. */
function endOf(hold: Hold): Completion | undefined {
  const { halt } = hold;
  return halt === undefined || halt === "lost" ? undefined : WORDS[halt];
}

/** What all commands see. What the deployment brings does not overwrite what the runner says. */
function toEnvironment(
  deployment: Deployment,
  variables: readonly { name: string; value: string }[],
): NodeJS.ProcessEnv {
  const { LONGSHORE_RUNNER_TOKEN: _, ...inherited } = process.env;
  return {
    ...inherited,
    ...Object.fromEntries(variables.map(({ name, value }) => [name, value])),
    LONGSHORE_DEPLOYMENT: deployment.id,
    LONGSHORE_SOURCE: JSON.stringify(deployment.data.source ?? {}),
  };
}

/** Gives an offer back, so that another runner has it at once. If that fails, it lapses by itself. */
export async function release(api: Api, { attempt_id, lease_token, deployment }: Claim) {
  try {
    await api.call("POST", `/v1/runner/attempts/${attempt_id}/release`, {
      leaseToken: lease_token,
      giveUpAfterMs: 5_000,
    });
    console.log(`Deployment ${deployment.id}: given back.`);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    console.error(error.message);
  }
}
