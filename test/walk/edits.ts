import { env } from "cloudflare:workers";
import { expect } from "vitest";
import type { Calls } from "./calls.ts";
import type { Ledger } from "./ledger.ts";
import { applyByReference, type Document, randomPatch } from "./patches.ts";

/** How people set the configuration of an environment, on a walk. */
export class Edits {
  readonly #calls: Calls;
  readonly #ledger: Ledger;
  /** What somebody has read and may yet send, however late. */
  readonly #drafts: { environment: string; document: Document }[] = [];

  constructor(calls: Calls, ledger: Ledger) {
    this.#calls = calls;
    this.#ledger = ledger;
  }

  /** Reads the configuration, and changes it later. */
  draft(): void {
    const environment = this.#calls.random.pick(this.#calls.stage.environments) ?? "";
    this.#drafts.push({ environment, document: this.#change(environment) });
  }

  async sendDraft(): Promise<void> {
    const { random } = this.#calls;
    const draft = random.pick(this.#drafts.slice(-5));
    if (draft) await this.#put(draft.environment, draft.document);
  }

  async edit(environment = this.#calls.random.pick(this.#calls.stage.environments) ?? "") {
    await this.#put(environment, this.#change(environment));
  }

  /** The same while others change the environment, too: either answer may be right. */
  async editInRace(environment = this.#calls.random.pick(this.#calls.stage.environments) ?? "") {
    await this.#send(environment, this.#change(environment));
  }

  /** The same with what the configuration was before this step. */
  async undoInRace(environment: string): Promise<void> {
    await this.#send(environment, this.#ledger.current(environment));
  }

  /** Sometimes what the configuration is already. */
  #change(environment: string): Document {
    const { random } = this.#calls;
    const current = this.#ledger.current(environment);
    if (random.chance(0.15)) return current;
    const changed = applyByReference(current, randomPatch(random, current)) ?? current;
    return applyByReference(changed, randomPatch(random, changed)) ?? changed;
  }

  async #put(environment: string, document: Document): Promise<void> {
    const { configuration, isActive } = await readEnvironment(environment);
    // The service compares the texts: another order of the members is a change to it.
    const isChange = configuration !== JSON.stringify(document);
    const expected = isActive && isChange ? 409 : 200;
    const words = `an edit of an ${isActive ? "active" : "idle"} environment`;
    expect(await this.#send(environment, document), words).toBe(expected);
    if (this.#calls.random.chance(0.15)) {
      expect(await this.#send(environment, document), "an edit sent again").toBe(expected);
    }
  }

  async #send(environment: string, document: Document): Promise<number> {
    const { key, names } = this.#calls.stage;
    const path = `/v1/environments/${environment}`;
    const body = { name: names.get(environment), configuration: document };
    const { status } = await this.#calls.once(key, "PUT", path, body);
    expect([200, 409]).toContain(status);
    if (status === 200) this.#ledger.acknowledge(environment, document);
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
