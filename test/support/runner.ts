import type { Client, Parsed, Reply } from "./client.ts";

/** Claims with a new request ID, or repeats an earlier claim. */
export function claim(
  runner: Client,
  requestId: string = crypto.randomUUID(),
  fields: object = {},
): Promise<Reply> {
  return runner.post("/v1/runner/claims", { request_id: requestId, ...fields });
}

/** A claimed attempt and its runner. */
export class Attempt {
  readonly claimed: Parsed;
  readonly #runner: Client;

  constructor(runner: Client, claimed: Parsed) {
    this.#runner = runner;
    this.claimed = claimed;
  }

  /** Throws if nothing can be claimed. */
  static async claim(runner: Client): Promise<Attempt> {
    const { status, body } = await claim(runner);
    if (status !== 200) throw new Error(`There was nothing to claim: ${status}`);
    return new Attempt(runner, body);
  }

  static async started(runner: Client): Promise<Attempt> {
    const attempt = await Attempt.claim(runner);
    await attempt.post("start");
    return attempt;
  }

  get deploymentId(): string {
    return this.claimed.deployment.id;
  }

  post(verb: string, body?: unknown): Promise<Reply> {
    return this.#call("POST", verb, body);
  }

  report(stackId: string, body: object): Promise<Reply> {
    return this.#call("PUT", `stacks/${stackId}`, body);
  }

  variables(): Promise<Reply> {
    return this.#call("GET", "variables");
  }

  /** Reports the stacks that have not ended as succeeded, and completes. */
  async succeed(fields: object = {}): Promise<Reply> {
    for (const id of this.claimed.deployment.stack_ids) {
      await this.report(id, { seq: 1_000, status: "succeeded" });
    }
    return this.complete("succeeded", fields);
  }

  complete(outcome: string, fields: object = {}): Promise<Reply> {
    return this.post("complete", { outcome, ...fields });
  }

  #call(method: string, verb: string, body?: unknown): Promise<Reply> {
    const path = `/v1/runner/attempts/${this.claimed.attempt_id}/${verb}`;
    const headers = { "lease-token": this.claimed.lease_token };
    return this.#runner.request(method, path, body, headers);
  }
}
