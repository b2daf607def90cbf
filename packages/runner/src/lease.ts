import { type Answer, type Api, pause, Refusal } from "./api.ts";
import type {
  Claim,
  CompletedAttempt,
  Completion,
  DeliveredVariables,
  Deployment,
  Intervals,
  StackReport,
  StartedAttempt,
} from "./api-types.ts";

/**
 * Why the work ends before its end: the server asks to cancel; whoever runs this runner wants it to
 * end; the server was not heard of for as long as the lease is; or the attempt is not ours.
 */
export type Halt = "canceled" | "interrupted" | "unheard" | "lost";

/**
 * A started attempt, as far as it is this runner's: the calls about it, the heartbeats beside the
 * work, and whatever speaks against going on. `halted` is given once; that the attempt is lost
 * outweighs whatever was the reason before, for then nothing more is to be said to the server.
 */
export class Hold {
  readonly #api: Api;
  readonly #claim: Claim;
  readonly #halted = new AbortController();
  readonly #ended = new AbortController();
  #halt: Halt | undefined;
  #leaseTimer: NodeJS.Timeout | undefined;

  constructor(api: Api, claim: Claim) {
    this.#api = api;
    this.#claim = claim;
  }

  get halted(): AbortSignal {
    return this.#halted.signal;
  }

  get halt(): Halt | undefined {
    return this.#halt;
  }

  giveUp(halt: Halt): void {
    if (halt === "lost" || !this.#halt) this.#halt = halt;
    this.#halted.abort();
  }

  /**
   * Starts the attempt, in the time that the offer lasts, and then its heartbeats. Returns the
   * deployment to execute: its patch may differ from that of the claim.
   */
  async start(): Promise<Deployment> {
    const sentAt = performance.now();
    const giveUpAfterMs = this.#claim.start_within_seconds * 1000;
    const { body } = await this.#call("POST", "/start", { giveUpAfterMs });
    const started = body as StartedAttempt;
    this.#renew(started, sentAt);
    void this.#beat(started);
    return started.deployment;
  }

  async readVariables(): Promise<DeliveredVariables["variables"]> {
    const { body } = await this.#call("GET", "/variables");
    return (body as DeliveredVariables).variables;
  }

  async report(stackId: string, report: StackReport): Promise<void> {
    await this.#call("PUT", `/stacks/${stackId}`, { body: report });
  }

  /** Completes the attempt, after its last heartbeat. Returns how the deployment has ended. */
  async complete(completion: Completion): Promise<CompletedAttempt> {
    this.end();
    const { body } = await this.#call("POST", "/complete", { body: completion });
    return body as CompletedAttempt;
  }

  end(): void {
    this.#ended.abort();
    clearTimeout(this.#leaseTimer);
  }

  async #beat({ heartbeat_every_seconds }: Intervals): Promise<void> {
    const signal = this.#ended.signal;
    let everyMs = heartbeat_every_seconds * 1000;
    while (true) {
      await pause(everyMs, signal);
      if (signal.aborted || this.#halt === "lost") return;
      try {
        const sentAt = performance.now();
        const { body } = await this.#call("POST", "/heartbeat", { signal });
        everyMs = (body as Intervals).heartbeat_every_seconds * 1000;
        if (!signal.aborted) this.#renew(body as Intervals, sentAt);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof Refusal)) console.error(`Heartbeat: ${describe(error)}`);
      }
    }
  }

  /**
   * The lease counts from when the heartbeat was sent, because the server cannot have counted it from
   * any earlier. The clock that measures it is a monotonic one, and is only ever compared with itself.
   */
  #renew({ lease_seconds }: Intervals, sentAt: number): void {
    clearTimeout(this.#leaseTimer);
    const leftMs = sentAt + lease_seconds * 1000 - performance.now();
    this.#leaseTimer = setTimeout(() => this.giveUp("unheard"), leftMs);
  }

  async #call(
    method: string,
    path: string,
    options: Omit<Parameters<Api["call"]>[2] & object, "leaseToken"> = {},
  ): Promise<Answer> {
    const { attempt_id, lease_token: leaseToken } = this.#claim;
    const url = `/v1/runner/attempts/${attempt_id}${path}`;
    try {
      const answer = await this.#api.call(method, url, { ...options, leaseToken });
      if (answer.desired === "cancel") this.giveUp("canceled");
      // The good answer to the last word says stop as well, when there is nothing left to stop.
      if (answer.desired === "stop" && !this.#ended.signal.aborted) this.giveUp("lost");
      return answer;
    } catch (error) {
      if (error instanceof Refusal && error.isStop && !isOver(path, this.#ended)) {
        this.giveUp("lost");
      }
      throw error;
    }
  }
}

/** Whether a heartbeat came after the last word, and was answered accordingly. */
function isOver(path: string, ended: AbortController): boolean {
  return path === "/heartbeat" && ended.signal.aborted;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
