import { type ApiClient, delay } from "./api.ts";
import type {
  ApiResponse,
  Claim,
  CompletedAttempt,
  Completion,
  DeliveredVariables,
  Intervals,
  StackReport,
  StartedAttempt,
} from "./api-types.ts";
import { ApiError } from "./errors.ts";

/**
 * Why the work stops early: the server cancels, the operator ends the runner, the server was silent
 * for the length of the lease, or this runner no longer holds the attempt.
 */
export type HaltReason = "canceled" | "interrupted" | "lease_expired" | "lost";

/**
 * The lease of an attempt: its requests, its heartbeats, and the reason to stop early. The reason
 * "lost" replaces every other, because the runner then sends no more requests.
 */
export class Lease {
  readonly #api: ApiClient;
  readonly #claim: Claim;
  readonly #halted = new AbortController();
  readonly #ended = new AbortController();
  #haltReason: HaltReason | undefined;
  #leaseTimer: NodeJS.Timeout | undefined;
  #intervals: Intervals;

  constructor(api: ApiClient, claim: Claim) {
    this.#api = api;
    this.#claim = claim;
    this.#intervals = claim;
  }

  /** As the start has returned them. */
  get intervals(): Intervals {
    return this.#intervals;
  }

  get halted(): AbortSignal {
    return this.#halted.signal;
  }

  get haltReason(): HaltReason | undefined {
    return this.#haltReason;
  }

  halt(reason: HaltReason): void {
    if (reason === "lost" || !this.#haltReason) this.#haltReason = reason;
    this.#halted.abort();
  }

  /**
   * Starts the attempt before the offer lapses, and then its heartbeats. The patch of the returned
   * input may differ from that of the claim's deployment.
   */
  async start(): Promise<StartedAttempt> {
    const sentAt = performance.now();
    const retryForMs = this.#claim.start_within_seconds * 1000;
    const { body } = await this.#send("POST", "/start", { retryForMs });
    const started = body as StartedAttempt;
    this.#intervals = started;
    this.#renew(started, sentAt);
    void this.#sendHeartbeats(started);
    return started;
  }

  async readVariables(): Promise<DeliveredVariables> {
    const { body } = await this.#send("GET", "/variables");
    return body as DeliveredVariables;
  }

  /** Returns the warnings of the server. The signal gives up repeats. */
  async report(
    stackId: string,
    report: StackReport,
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    const options = { body: report, ...(signal && { signal }) };
    const { body } = await this.#send("PUT", `/stacks/${stackId}`, options);
    return (body as { warnings?: string[] }).warnings ?? [];
  }

  /** Stops the heartbeats and completes the attempt. Returns the final status. */
  async complete(completion: Completion): Promise<CompletedAttempt> {
    this.end();
    const { body } = await this.#send("POST", "/complete", { body: completion });
    return body as CompletedAttempt;
  }

  end(): void {
    this.#ended.abort();
    clearTimeout(this.#leaseTimer);
  }

  async #sendHeartbeats({ heartbeat_every_seconds }: Intervals): Promise<void> {
    const signal = this.#ended.signal;
    let everyMs = heartbeat_every_seconds * 1000;
    while (true) {
      await delay(everyMs, signal);
      if (signal.aborted || this.#haltReason === "lost") return;
      try {
        const sentAt = performance.now();
        const { body } = await this.#send("POST", "/heartbeat", { signal });
        everyMs = (body as Intervals).heartbeat_every_seconds * 1000;
        if (!signal.aborted) this.#renew(body as Intervals, sentAt);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ApiError)) console.error(`Heartbeat: ${describe(error)}`);
      }
    }
  }

  /**
   * Counts the lease from the time that the heartbeat was sent, which is never later than on the
   * server. `performance.now` is monotonic.
   */
  #renew({ lease_seconds }: Intervals, sentAt: number): void {
    clearTimeout(this.#leaseTimer);
    const leftMs = sentAt + lease_seconds * 1000 - performance.now();
    this.#leaseTimer = setTimeout(() => this.halt("lease_expired"), leftMs);
  }

  async #send(
    method: string,
    path: string,
    options: Omit<Parameters<ApiClient["send"]>[2] & object, "leaseToken"> = {},
  ): Promise<ApiResponse> {
    const { attempt_id, lease_token: leaseToken } = this.#claim;
    const url = `/v1/runner/attempts/${attempt_id}${path}`;
    try {
      const response = await this.#api.send(method, url, { ...options, leaseToken });
      if (response.directive === "cancel") this.halt("canceled");
      // The response to a completion also says stop; then there is nothing to stop.
      if (response.directive === "stop" && !this.#ended.signal.aborted) this.halt("lost");
      return response;
    } catch (error) {
      if (error instanceof ApiError && error.isAttemptLost && !isLateHeartbeat(path, this.#ended)) {
        this.halt("lost");
      }
      throw error;
    }
  }
}

/** A heartbeat that was in progress during the completion may be refused. */
function isLateHeartbeat(path: string, ended: AbortController): boolean {
  return path === "/heartbeat" && ended.signal.aborted;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
