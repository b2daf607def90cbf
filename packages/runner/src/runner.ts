import { randomUUID } from "node:crypto";
import { ApiClient, delay } from "./api.ts";
import type { Claim } from "./api-types.ts";
import { type AttemptResult, executeAttempt, release, type Signals } from "./attempt.ts";
import { closeInheritedDescriptors } from "./descriptors.ts";
import { ApiError, NoResponseError, RunnerError } from "./errors.ts";
import { HELP, type Options, readOptions, type StoredToken } from "./options.ts";
import { useProxies } from "./proxies.ts";
import { TerminalOutput } from "./terminal-output.ts";
import { type Upload, Uploads } from "./uploads.ts";

const CLAIM_EVERY_MS = 5_000;
/** One Ctrl-C may arrive twice: from the terminal, and forwarded by npm. */
export const SAME_SIGNAL_MS = 1_000;
/** For a slow reader of the runner's output, and for requests in progress. */
export const EXIT_WITHIN_MS = 5_000;

/**
 * The reference runner. It claims one deployment of its pool at a time, and runs a command for each
 * stack. See docs/runners.md. Returns what the process exits with, and makes sure that it does.
 */
export async function runRunner(
  args: readonly string[],
  environment: NodeJS.Dict<string>,
  stored?: StoredToken,
): Promise<number> {
  // Without a listener, the signal opens Node's debugger, through which other processes read the token.
  process.on("SIGUSR1", () => undefined);
  // Without a listener, a reader of the output that goes away would end the runner during a deployment.
  for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);
  try {
    if (asksForHelp(args)) {
      console.log(HELP);
      return 0;
    }
    const options = readOptions(args, environment, stored);
    await useProxies(environment);
    closeInheritedDescriptors();
    const api = new ApiClient(options.url, options.credential);
    return await serve(options, api, listenToSignals());
  } catch (error) {
    if (!(error instanceof RunnerError)) throw error;
    if (error instanceof ApiError && error.deploymentStatus !== undefined) {
      console.log(error.serverMessage);
      return error.deploymentStatus === "succeeded" ? 0 : 1;
    }
    console.error(error.message);
    return error.exitCode;
  } finally {
    // It does not keep the process running: without anything left to do, the process exits before.
    setTimeout(() => process.exit(), EXIT_WITHIN_MS).unref();
  }
}

function asksForHelp(args: readonly string[]): boolean {
  return args.some((each) => each === "--help" || each === "-h");
}

async function serve(options: Options, api: ApiClient, signals: Signals): Promise<number> {
  console.log(`Waiting for deployments of ${options.url}, as process ${process.pid}.`);
  const terminal = new TerminalOutput();
  const uploads = new Uploads();
  const onUpload = (upload: Upload) => uploads.add(upload);
  try {
    while (true) {
      const claim = await claimNext(api, options, signals.ending);
      if (!claim) return 0;
      if (signals.ending.aborted) {
        await release(api, claim);
        return 0;
      }
      const result = await executeAttempt(api, claim, options, { ...signals, terminal, onUpload });
      console.log(`Deployment ${claim.deployment.id}: ${describe(result)}`);
      if (options.once) return result.status === "succeeded" ? 0 : 1;
    }
  } finally {
    await uploads.finish(signals);
  }
}

function describe({ status, reason }: AttemptResult): string {
  return reason === undefined ? `${status}.` : `${status} with ${reason}.`;
}

/**
 * Claims the next attempt; undefined when the runner is ending. Retries of a claim keep its request
 * ID, so that after a lost response the server returns the same attempt.
 */
async function claimNext(
  api: ApiClient,
  { deploymentId, description }: Options,
  ending: AbortSignal,
): Promise<Claim | undefined> {
  while (!ending.aborted) {
    const body = { request_id: randomUUID(), deployment_id: deploymentId, runner: description };
    const request = { body, signal: ending, retryForMs: Infinity };
    try {
      const response = await api.send("POST", "/v1/runner/claims", request);
      // After retries, the offer may have lapsed.
      if (response.status === 200 && response.directive === "continue") {
        return response.body as Claim;
      }
      if (response.status !== 200) await delay(response.retryAfterMs ?? CLAIM_EVERY_MS, ending);
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error;
    }
  }
  return undefined;
}

/** The first signal ends the runner gracefully, the second stops the command, the third exits. */
function listenToSignals(): Signals {
  const steps = [new AbortController(), new AbortController()] as const;
  let count = 0;
  let lastAt = -SAME_SIGNAL_MS;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      const now = performance.now();
      if (now - lastAt < SAME_SIGNAL_MS) return;
      lastAt = now;
      const step = steps[count];
      count += 1;
      if (!step) process.exit(1);
      console.error(count === 1 ? `${signal}: ending.` : `${signal}: ending at once.`);
      step.abort();
    });
  }
  return { ending: steps[0].signal, force: steps[1].signal };
}
