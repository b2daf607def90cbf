import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { ConfigurationModel } from "./configuration-model.ts";
import { ALL_STACKS, type Document, randomPatch, resultOf } from "./patches.ts";
import type { WalkClient } from "./walk-client.ts";

/** Sets the configurations of environments, as users do. */
export class ConfigurationActor {
  readonly #client: WalkClient;
  readonly #model: ConfigurationModel;
  /** Edits of a configuration that was read earlier and may have changed since. */
  readonly #drafts: { environment: string; document: Document }[] = [];

  constructor(client: WalkClient, model: ConfigurationModel) {
    this.#client = client;
    this.#model = model;
  }

  /** Prepares an edit that `sendDraft` may send later. */
  draft(): void {
    const environment = this.#client.random.pick(this.#client.fixture.environments) ?? "";
    this.#drafts.push({ environment, document: this.#change(environment) });
  }

  async sendDraft(): Promise<void> {
    const { random } = this.#client;
    const draft = random.pick(this.#drafts.slice(-5));
    if (draft) await this.#put(draft.environment, draft.document);
  }

  async edit(environment = this.#client.random.pick(this.#client.fixture.environments) ?? "") {
    await this.#put(environment, this.#change(environment));
  }

  /** Edits while other requests change the environment: 200 and 409 are both correct. */
  async editInRace(
    environment = this.#client.random.pick(this.#client.fixture.environments) ?? "",
  ) {
    await this.#send(environment, this.#change(environment));
  }

  /** Sets the configuration from before this step, in a race. */
  async undoInRace(environment: string): Promise<void> {
    await this.#send(environment, this.#model.current(environment));
  }

  /** Sometimes returns the current configuration unchanged. */
  #change(environment: string): Document {
    const { random } = this.#client;
    const current = this.#model.current(environment);
    if (random.chance(0.15)) return current;
    const change = (document: Document) =>
      resultOf(document, randomPatch(random, document), ALL_STACKS) ?? document;
    return change(change(current));
  }

  /** Stacks that need each other. */
  async sendCycle(): Promise<void> {
    const { random, fixture } = this.#client;
    const environment = random.pick(fixture.environments) ?? "";
    const stacks = { a: { needs: ["b"] }, b: { needs: ["a"] } };
    const body = { name: fixture.names.get(environment), configuration: { stacks } };
    const path = `/v1/environments/${environment}`;
    const { status } = await this.#client.once(fixture.key, "PUT", path, body);
    expect(status, "a cycle of needs").toBe(400);
  }

  async #put(environment: string, document: Document): Promise<void> {
    const { configuration, isActive } = await readEnvironment(environment);
    // The service compares JSON texts, so another order of members is a change.
    const isChange = configuration !== JSON.stringify(document);
    const expected = isActive && isChange ? 409 : 200;
    const description = `an edit of an ${isActive ? "active" : "idle"} environment`;
    expect(await this.#send(environment, document), description).toBe(expected);
    if (this.#client.random.chance(0.15)) {
      expect(await this.#send(environment, document), "an edit sent again").toBe(expected);
    }
  }

  async #send(environment: string, document: Document): Promise<number> {
    const { key, names } = this.#client.fixture;
    const path = `/v1/environments/${environment}`;
    const body = { name: names.get(environment), configuration: document };
    const { status } = await this.#client.once(key, "PUT", path, body);
    expect([200, 409]).toContain(status);
    if (status === 200) this.#model.recordEdit(environment, document);
    return status;
  }
}

async function readEnvironment(id: string) {
  const row = await env.DB.prepare(
    `select configuration, exists (select 1 from deployments
      where environment_id = environments.id and status in ('in_progress', 'canceling')) as active
      from environments where id = ?`,
  )
    .bind(id)
    .first<{ configuration: string; active: number }>();
  return { configuration: row?.configuration, isActive: row?.active === 1 };
}
