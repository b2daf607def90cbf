import { Failure } from "../failure.ts";
import type { Api } from "./api.ts";
import { type Ended, runCommand } from "./child.ts";
import { type Halt, Hold } from "./hold.ts";
import type { Options } from "./options.ts";
import type { Claim, Completion, Outcome, StackReport } from "./wire.ts";

/** `lost`: somebody else may have it now, or nobody; the server has decided without this runner. */
export type Result = Outcome | "lost";

export interface Signals {
  /** Whoever runs this runner wants it to end. */
  ending: AbortSignal;
  /** And does not want to wait. */
  force: AbortSignal;
}

const WORDS = {
  canceled: { outcome: "canceled", message: "The command was stopped: somebody canceled it." },
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
    await hold.start();
    console.log(`Deployment ${claim.deployment.id}: started.`);
    if (ending.aborted) interrupt();
    const completion = await work(hold, claim, options, force);
    if (hold.halt === "lost") return "lost";
    await hold.complete(completion);
    return completion.outcome;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    console.error(error.message);
    return "lost";
  } finally {
    ending.removeEventListener("abort", interrupt);
    hold.end();
  }
}

/** The stacks one after the other, until one fails: what is left over, the server marks as skipped. */
async function work(
  hold: Hold,
  claim: Claim,
  options: Options,
  force: AbortSignal,
): Promise<Completion> {
  const variables = hold.halted.aborted ? [] : await readVariables(hold);
  for (const stackId of claim.deployment.stack_ids) {
    if (hold.halted.aborted) break;
    const env = toEnvironment(claim, stackId, variables);
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

/** What the command sees. What the deployment brings does not overwrite what the runner says. */
function toEnvironment(
  { deployment }: Claim,
  stackId: string,
  variables: readonly { name: string; value: string }[],
): NodeJS.ProcessEnv {
  const { LONGSHORE_RUNNER_TOKEN: _, ...inherited } = process.env;
  return {
    ...inherited,
    ...Object.fromEntries(variables.map(({ name, value }) => [name, value])),
    LONGSHORE_DEPLOYMENT: deployment.id,
    LONGSHORE_STACK: stackId,
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
