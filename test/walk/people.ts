import { expect } from "vitest";
import type { Calls } from "./calls.ts";
import type { Ledger } from "./ledger.ts";
import { randomPatch } from "./patches.ts";
import { type Answer, CONNECTION } from "./walk.ts";

/** What people do to deployments and to the project, on a walk. */
export class People {
  readonly #calls: Calls;
  readonly #ledger: Ledger;
  readonly #deployments: string[] = [];
  #isConnected = true;

  constructor(calls: Calls, ledger: Ledger) {
    this.#calls = calls;
    this.#ledger = ledger;
  }

  async create(choice: { environment?: string; queue?: "fifo" } = {}): Promise<void> {
    const { random, stage } = this.#calls;
    const environment = choice.environment ?? random.pick(stage.environments) ?? "";
    const patch = randomPatch(random, this.#ledger.current(environment));
    const answer = await this.#queue(`/v1/environments/${environment}/deployments`, {
      queue: choice.queue ?? (random.chance(0.4) ? "fifo" : "supersede"),
      ...((patch.length > 0 || random.chance(0.5)) && { patch }),
    });
    if (answer.status === 201) this.#ledger.plan(answer.body.id, { patch });
    if (answer.status === 400) this.#ledger.refuse(environment, patch);
  }

  async redeploy(): Promise<void> {
    const id = this.#anyDeployment(12);
    if (id) await this.#queueCopy(id, `/v1/deployments/${id}/redeploy`);
  }

  async promote(): Promise<void> {
    const { random, stage } = this.#calls;
    const id = this.#anyDeployment(12);
    if (!id) return;
    const { status } = await this.#read(id);
    const body = { environment_id: random.pick(stage.environments) };
    const path = `/v1/deployments/${id}/promote`;
    if (status === "succeeded") return this.#queueCopy(id, path, body);
    expect((await this.#calls.once(stage.key, "POST", path, body)).status).toBe(409);
  }

  async #queueCopy(id: string, path: string, body: object = {}): Promise<void> {
    const answer = await this.#queue(path, body);
    expect([201, 409]).toContain(answer.status);
    if (answer.status === 201) this.#ledger.plan(answer.body.id, { copyOf: id });
  }

  /**
   * Asks for a new deployment: there is one exactly if the project is connected, and its patch
   * applies (which `Ledger` checks).
   */
  async #queue(path: string, body: object): Promise<Answer> {
    const was = this.#isConnected;
    const answer = await this.#calls.once(this.#calls.stage.key, "POST", path, body);
    const possible = [was, this.#isConnected].map((connected) => (connected ? 201 : 409));
    expect([400, ...possible]).toContain(answer.status);
    if (answer.status === 201) this.#deployments.push(answer.body.id);
    return answer;
  }

  async cancel(): Promise<void> {
    const id = this.#anyDeployment(6);
    if (!id) return;
    const path = `/v1/deployments/${id}/cancel`;
    const { status, body } = await this.#calls.send(this.#calls.stage.key, "PATCH", path);
    expect([200, 409]).toContain(status);
    if (status === 200) expect(["canceling", "canceled"]).toContain(body.status);
    else expect(["succeeded", "failed", "superseded"]).toContain((await this.#read(id)).status);
  }

  async disconnect(): Promise<void> {
    this.#isConnected = false;
    const { key, projectId } = this.#calls.stage;
    const { status } = await this.#calls.send(key, "PATCH", `/v1/projects/${projectId}/disconnect`);
    expect(status).toBe(204);
  }

  /** A refusal is right while the project is disconnecting: an invariant says how long it may be. */
  async connect(): Promise<void> {
    const { key, projectId } = this.#calls.stage;
    const path = `/v1/projects/${projectId}/connection`;
    const { status } = await this.#calls.send(key, "PUT", path, CONNECTION);
    expect(this.#isConnected ? [200] : [200, 409]).toContain(status);
    this.#isConnected ||= status === 200;
  }

  async #read(id: string): Promise<{ status: string }> {
    return (await this.#calls.once(this.#calls.stage.key, "GET", `/v1/deployments/${id}`)).body;
  }

  /** One of so many that are the newest. */
  #anyDeployment(newest: number): string | undefined {
    return this.#calls.random.pick(this.#deployments.slice(-newest));
  }
}
