import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type Client, LongshoreError, type Schemas } from "../../../client/src/index.ts";
import { CliError, ExitCode } from "../errors.ts";
import { toPlainText } from "../plain-text.ts";
import { formatDuration } from "./duration.ts";
import { isPermanent, readLogStream } from "./log-stream.ts";
import { type DeploymentStatus, exitCodeOf, hasEnded } from "./outcome.ts";

export { exitCodeOf };

type Deployment = Schemas["Deployment"];
export type StackStatus = Schemas["StackStatus"];

export interface DeploymentProgress {
  status: DeploymentStatus;
  stacks: { id: string; status: StackStatus }[];
  /** Why it is still queued, for people. */
  waitingFor: readonly string[];
}

type LogStatus = Omit<DeploymentProgress, "waitingFor">;

export interface FollowOptions {
  /** Ends the wait with its reason. */
  signal?: AbortSignal | undefined;
  /** For how long to wait for the end of the deployment. Absent: for as long as it takes. */
  timeoutMs?: number | undefined;
  /** For how long the service may be silent. Default: `UNREACHABLE_MS`. */
  unreachableMs?: number | undefined;
  /** Selects the lines of this stack. */
  stackId?: string | undefined;
  /** Called first, and whenever the deployment or one of its stacks has another status, or waits for something else. */
  onStatus?: ((progress: DeploymentProgress) => void) | undefined;
  onLine?: ((line: Schemas["LogLine"]) => void) | undefined;
  /** The deployment has ended, and the rest of its log does not arrive. */
  onIncompleteLog?: (() => void) | undefined;
}

export const UNREACHABLE_MS = 5 * 60_000;

const DEPLOYMENT = "/v1/deployments/{deployment_id}";
/** The stream of the log reports a change at once. These reads cover a stream that does not. */
const READ_EVERY_MS = 10_000;
const READ_WITHOUT_LOG_EVERY_MS = 3_000;
/** The log knows of the end, and the read does not yet. */
const READ_AGAIN_MS = 1_000;
const READ_MS = 60_000;
const LAST_READ_MS = 10_000;
/** For how long the rest of the log may pause after the end of the deployment. */
const LOG_PAUSE_MS = 10_000;

/**
 * Waits until the deployment has ended, as the deployment itself says. Its log, which may be late, lost or
 * refused, never decides.
 *
 * @throws CliError with the exit code 5 after `timeoutMs`, and 6 after `unreachableMs` without a response
 * of the service.
 * @throws ApiError at once for a refusal that no repeat changes.
 */
export async function followDeployment(
  client: Client,
  deploymentId: string,
  options: FollowOptions = {},
): Promise<Deployment> {
  const follower = new Follower(client, deploymentId, options);
  try {
    return await follower.run();
  } finally {
    follower.stop();
  }
}

class Follower {
  readonly #client: Client;
  readonly #id: string;
  readonly #options: FollowOptions;
  /** Ends the requests and pauses. */
  readonly #stopped = new AbortController();
  readonly #startedAt = Date.now();
  #heardAt = Date.now();
  #lineAt = Date.now();
  #shown = "";
  #status: DeploymentStatus | undefined;
  #statusCount = 0;
  #waitingFor: readonly string[] = [];
  #hasLog = true;
  #wake: () => void = () => undefined;

  constructor(client: Client, id: string, options: FollowOptions) {
    this.#client = client;
    this.#id = id;
    this.#options = options;
  }

  get #signal(): AbortSignal {
    const { signal } = this.#options;
    return signal ? AbortSignal.any([signal, this.#stopped.signal]) : this.#stopped.signal;
  }

  stop(): void {
    this.#stopped.abort();
  }

  async run(): Promise<Deployment> {
    const log = this.#readLog();
    const brokenLog = log.then(() => new Promise<never>(() => undefined));
    const deployment = await Promise.race([this.#waitForEnd(), brokenLog]);
    if (!(await this.#waitForLog(log))) this.#options.onIncompleteLog?.();
    return deployment;
  }

  /** Rejects only with an error of a callback. */
  async #readLog(): Promise<boolean> {
    const signal = this.#signal;
    try {
      const { stackId } = this.#options;
      return await readLogStream(this.#client, {
        deploymentId: this.#id,
        stackId,
        signal,
        onLine: (line) => this.#showLine(line),
        onStatus: (progress) => this.#showLogStatus(progress),
        onLost: () => this.#loseLog(),
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      return false;
    } finally {
      this.#loseLog();
    }
  }

  async #waitForEnd(): Promise<Deployment> {
    for (;;) {
      const isLast = this.#remainingMs() <= 0;
      const pauseMs = await this.#read();
      if (typeof pauseMs !== "number") return pauseMs;
      if (isLast) throw this.#timeout();
      await this.#pause(Math.min(pauseMs, Math.max(0, this.#remainingMs())));
    }
  }

  /** The deployment if it has ended, or how long to wait before the next read. */
  async #read(): Promise<Deployment | number> {
    const { unreachableMs = UNREACHABLE_MS } = this.#options;
    const before = this.#statusCount;
    try {
      const deployment = await this.#client.get(DEPLOYMENT, {
        path: { deployment_id: this.#id },
        signal: this.#signal,
        totalTimeoutMs: Math.max(
          1,
          Math.min(this.#readMs(), this.#heardAt + unreachableMs - Date.now()),
        ),
      });
      this.#heardAt = Date.now();
      const isOver = hasEnded(deployment.status);
      // What the stream has reported in between is newer.
      if (isOver || before === this.#statusCount) {
        this.#waitingFor = reasonsToWait(deployment);
        this.#show(toProgress(deployment));
      }
      return isOver ? deployment : this.#pauseMs();
    } catch (error) {
      if (!(error instanceof LongshoreError) || isPermanent(error)) throw error;
      const asked = error instanceof ApiError ? error.retryAfterMs : undefined;
      if (error instanceof ApiError && error.status === 429) this.#heardAt = Date.now();
      if (Date.now() - this.#heardAt >= unreachableMs) throw unreachable(error, unreachableMs);
      return Math.max(READ_AGAIN_MS, asked ?? 0);
    }
  }

  /** At the end of the wait, there is time for one more read. */
  #readMs(): number {
    return Math.min(READ_MS, Math.max(0, this.#remainingMs()) + LAST_READ_MS);
  }

  #pauseMs(): number {
    if (this.#status && hasEnded(this.#status)) return READ_AGAIN_MS;
    // The stream does not report another reason to wait.
    return this.#hasLog && this.#status !== "queued" ? READ_EVERY_MS : READ_WITHOUT_LOG_EVERY_MS;
  }

  /** Ends early when the log has news. */
  async #pause(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const signal = AbortSignal.any([this.#signal, woken.signal]);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
    this.#options.signal?.throwIfAborted();
  }

  /** Returns whether the log has been read to its end. */
  async #waitForLog(log: Promise<boolean>): Promise<boolean> {
    this.#lineAt = Date.now();
    for (;;) {
      const pauseMs = this.#lineAt + LOG_PAUSE_MS - Date.now();
      if (pauseMs <= 0) return false;
      const timer = sleep(pauseMs, undefined, { signal: this.#signal }).catch(() => undefined);
      const isComplete = await Promise.race([log, timer]);
      this.#options.signal?.throwIfAborted();
      if (isComplete !== undefined) return isComplete;
    }
  }

  #showLine(line: Schemas["LogLine"]): void {
    this.#hasLog = true;
    this.#heardAt = Date.now();
    this.#lineAt = Date.now();
    this.#options.onLine?.(line);
  }

  #showLogStatus(progress: LogStatus): void {
    this.#hasLog = true;
    this.#heardAt = Date.now();
    this.#statusCount += 1;
    this.#show(progress);
    if (hasEnded(progress.status)) this.#wake();
  }

  #loseLog(): void {
    this.#hasLog = false;
    this.#wake();
  }

  #show({ status, stacks }: LogStatus): void {
    this.#status = status;
    const waitingFor = status === "queued" ? this.#waitingFor : [];
    const progress = { status, stacks, waitingFor };
    const shown = JSON.stringify(progress);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#options.onStatus?.(progress);
  }

  #remainingMs(): number {
    return this.#startedAt + (this.#options.timeoutMs ?? Infinity) - Date.now();
  }

  #timeout(): CliError {
    const waited = formatDuration(this.#options.timeoutMs ?? 0);
    const status = this.#status
      ? `it is ${this.#status}, and continues`
      : "its status is not known";
    return new CliError(
      `The deployment ${this.#id} has not ended within ${waited}: ${status}. ` +
        `Run: longshore logs --follow ${this.#id}`,
      ExitCode.timedOut,
    );
  }
}

/** What a queued deployment waits for, for people. Its texts have names that others have chosen. */
export function reasonsToWait({ waiting_for = [] }: Pick<Deployment, "waiting_for">): string[] {
  return waiting_for.map(({ message }) => toPlainText(message));
}

function toProgress({ status, data }: Deployment): LogStatus {
  const stacks = (data.stacks ?? []).map((stack) => ({ id: stack.id, status: stack.status }));
  return { status, stacks };
}

function unreachable(error: Error, ms: number): CliError {
  return new CliError(
    `The service has not responded for ${formatDuration(ms)}: ${error.message}. The deployment may continue.`,
    ExitCode.unreachable,
  );
}
