import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Random } from "../support/random.ts";
import { CONNECTION } from "../support/world.ts";
import type { ConfigurationModel } from "./configuration-model.ts";
import type { Reply } from "./fixture.ts";
import { ALL_STACKS, randomPatch } from "./patches.ts";
import type { WalkClient } from "./walk-client.ts";

/** Undefined: the deployment keeps that of its environment. */
function randomSource(random: Random): { source: object | null } | undefined {
  if (random.chance(0.5)) return undefined;
  if (random.chance(0.2)) return { source: null };
  return { source: { registry: { image: `ghcr.io/acme/shop:${random.below(100)}` } } };
}

async function readSource(id: string): Promise<string | null> {
  const select = env.DB.prepare("select source from deployments where id = ?");
  return select.bind(id).first<string | null>("source");
}

/** The names of the stacks that have succeeded so far. */
async function listSucceeded(environment: string): Promise<string[]> {
  const { results } = await env.DB.prepare(
    "select name from stacks where environment_id = ? and succeeded_at is not null",
  )
    .bind(environment)
    .all<{ name: string }>();
  return results.map(({ name }) => name);
}

/** Creates and cancels deployments, and connects and disconnects the project. */
export class UserActor {
  readonly #client: WalkClient;
  readonly #model: ConfigurationModel;
  readonly #deployments: string[] = [];
  /** JSON, or null for none, of the deployments that do not keep the source of their environment. */
  readonly #sources = new Map<string, string | null>();
  #isConnected = true;

  constructor(client: WalkClient, model: ConfigurationModel) {
    this.#client = client;
    this.#model = model;
  }

  async create(choice: { environment?: string; queue?: "fifo" } = {}): Promise<void> {
    const { random, fixture } = this.#client;
    const environment = choice.environment ?? random.pick(fixture.environments) ?? "";
    const patch = randomPatch(random, this.#model.current(environment));
    const source = randomSource(random);
    const deployed = random.chance(0.3) ? [random.pick(["a", "b"] as const) ?? "a"] : undefined;
    const succeeded = await listSucceeded(environment);
    const stacks = fixture.stacks.get(environment);
    const reply = await this.#createDeployment(`/v1/environments/${environment}/deployments`, {
      ...source,
      queue: choice.queue ?? (random.chance(0.4) ? "fifo" : "supersede"),
      ...(deployed && { stack_ids: deployed.map((name) => stacks?.get(name)) }),
      continue_on_failure: random.chance(0.3),
      ...((patch.length > 0 || random.chance(0.5)) && { patch }),
    });
    if (reply.status === 201) this.#model.requestChange(reply.body.id, { patch });
    if (reply.status === 201 && source) {
      this.#sources.set(reply.body.id, source.source && JSON.stringify(source.source));
    }
    if (reply.status !== 400) return;
    const state = { deployed: deployed ?? ALL_STACKS.deployed, succeeded };
    this.#model.recordRejectedPatch(environment, patch, state);
  }

  async redeploy(): Promise<void> {
    const id = this.#anyDeployment(12);
    if (id) await this.#createCopy(id, `/v1/deployments/${id}/redeploy`);
  }

  async promote(): Promise<void> {
    const { random, fixture } = this.#client;
    const id = this.#anyDeployment(12);
    if (!id) return;
    const { status } = await this.#read(id);
    const body = { environment_id: random.pick(fixture.environments) };
    const path = `/v1/deployments/${id}/promote`;
    if (status === "succeeded") return this.#createCopy(id, path, body);
    expect((await this.#client.once(fixture.key, "POST", path, body)).status).toBe(409);
  }

  async #createCopy(id: string, path: string, body: object = {}): Promise<void> {
    const reply = await this.#createDeployment(path, body);
    expect([201, 409]).toContain(reply.status);
    if (reply.status !== 201) return;
    this.#model.requestChange(reply.body.id, { copyOf: id });
    this.#sources.set(reply.body.id, await readSource(id));
  }

  /** The deployments whose source is not the one that was requested. */
  async listOtherSources(): Promise<string[]> {
    const requested = [...this.#sources];
    const stored = await Promise.all(requested.map(([id]) => readSource(id)));
    return requested.flatMap(([id, source], at) => (source === stored[at] ? [] : [id]));
  }

  /**
   * Creates a deployment. Expects success exactly if the project is connected and the patch applies;
   * `ConfigurationModel` verifies the patch.
   */
  async #createDeployment(path: string, body: object): Promise<Reply> {
    const was = this.#isConnected;
    const reply = await this.#client.once(this.#client.fixture.key, "POST", path, body);
    const possible = [was, this.#isConnected].map((connected) => (connected ? 201 : 409));
    expect([400, ...possible]).toContain(reply.status);
    if (reply.status === 201) this.#deployments.push(reply.body.id);
    return reply;
  }

  async cancel(): Promise<void> {
    const id = this.#anyDeployment(6);
    if (!id) return;
    const path = `/v1/deployments/${id}/cancel`;
    const { status, body } = await this.#client.send(this.#client.fixture.key, "PATCH", path);
    expect([200, 409]).toContain(status);
    if (status === 200) expect(["canceling", "canceled"]).toContain(body.status);
    else expect(["succeeded", "failed", "superseded"]).toContain((await this.#read(id)).status);
  }

  async disconnect(): Promise<void> {
    this.#isConnected = false;
    const { key, projectId } = this.#client.fixture;
    const { status } = await this.#client.send(
      key,
      "PATCH",
      `/v1/projects/${projectId}/disconnect`,
    );
    expect(status).toBe(204);
  }

  /** Expects 409 only while the project is disconnecting; an invariant limits how long that takes. */
  async connect(): Promise<void> {
    const { key, projectId } = this.#client.fixture;
    const path = `/v1/projects/${projectId}/connection`;
    const { status } = await this.#client.send(key, "PUT", path, CONNECTION);
    expect(this.#isConnected ? [200] : [200, 409]).toContain(status);
    this.#isConnected ||= status === 200;
  }

  async #read(id: string): Promise<{ status: string }> {
    const { key } = this.#client.fixture;
    const { body } = await this.#client.once(key, "GET", `/v1/deployments/${id}`);
    expect("waiting_for" in body, "waits for something").toBe(body.status === "queued");
    return body;
  }

  /** One of the newest deployments. */
  #anyDeployment(newest: number): string | undefined {
    return this.#client.random.pick(this.#deployments.slice(-newest));
  }
}
