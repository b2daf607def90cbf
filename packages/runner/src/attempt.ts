import type { ApiClient } from "./api.ts";
import type { Claim, Outcome } from "./api-types.ts";
import { AttemptLog, sendToLog } from "./attempt-log.ts";
import { runDeployment } from "./deployment-run.ts";
import { ApiError, RunnerError } from "./errors.ts";
import { Lease } from "./lease.ts";
import type { Options } from "./options.ts";
import type { TerminalOutput } from "./terminal-output.ts";
import type { Upload } from "./uploads.ts";

const PATCH_CONFLICT = "patch_conflict";

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
    const started = await lease.start();
    console.log(`Deployment ${claim.deployment.id}: started.`);
    if (ending.aborted) interrupt();
    const completion = await runDeployment({ lease, started, options, force, log });
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
