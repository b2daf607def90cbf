import { env } from "cloudflare:workers";
import {
  applyByReference,
  canonical,
  type Document,
  type Operation,
  recordsWhatWas,
} from "./patches.ts";

/** What a person asked for: a patch, or the configuration of another deployment. */
type Plan = { patch: readonly Operation[] } | { copyOf: string };

/** What a trigger of `invariants.ts` has written. */
interface LogRow {
  id: number;
  kind: "created" | "started" | "conflict" | "succeeded" | "configured";
  environment_id: string;
  deployment_id: string;
  configuration: string;
}

/** A creation that was answered 201 or 400, or an edit that was answered 200. */
interface Answered {
  environment: string;
  isAsExpected: (current: Document) => boolean;
  words: string;
}

const isEqual = (one: unknown, other: unknown) => canonical(one) === canonical(other);

/**
 * What the configurations have to be: the fold of what people have set and of the deployments that
 * succeeded, in the order of the log, each patch applied by json-p3 and not by the service.
 */
export class Ledger {
  readonly #current: Map<string, Document>;
  readonly #plans = new Map<string, Plan>();
  /** What each deployment brings to its environment: at its creation, and then at its start. */
  readonly #results = new Map<string, Document>();
  /** The configuration that each deployment was started on. */
  readonly #bases = new Map<string, Document>();
  readonly #edits: { environment: string; document: Document }[] = [];
  readonly #answered: Answered[] = [];
  readonly #starts: { deployment: string; patch: readonly Operation[] }[] = [];
  #seen = 0;

  constructor(environments: readonly string[]) {
    this.#current = new Map(environments.map((id) => [id, {}]));
  }

  current(environment: string): Document {
    return this.#current.get(environment) ?? {};
  }

  plan(deployment: string, plan: Plan): void {
    this.#plans.set(deployment, plan);
  }

  /** Notes that a patch was refused, as one that does not apply. */
  refuse(environment: string, patch: readonly Operation[]): void {
    const isAsExpected = (document: Document) => applyByReference(document, patch) === undefined;
    this.#answered.push({ environment, isAsExpected, words: "a patch is refused that applies" });
  }

  /** Notes that an edit was acknowledged. */
  acknowledge(environment: string, document: Document): void {
    this.#edits.push({ environment, document });
    const isAsExpected = (current: Document) => isEqual(current, document);
    this.#answered.push({ environment, isAsExpected, words: "an acknowledged edit is not made" });
  }

  /** Notes the patch that a runner was given to execute. */
  acknowledgeStart(deployment: string, patch: readonly Operation[]): void {
    this.#starts.push({ deployment, patch });
  }

  /** Goes on to the end of the log. What is broken, in words. */
  async check(): Promise<string[]> {
    const rows = await this.#readLog();
    const breaches: string[] = [];
    const moments = new Map([...this.#current].map(([id, document]) => [id, [document]]));
    const won = new Map<string, string>();
    for (const row of rows) {
      const seen = moments.get(row.environment_id) ?? [];
      const words = this.#follow(row, seen, won);
      if (words) breaches.push(`${words}: ${row.deployment_id ?? row.environment_id}`);
      if (row.kind === "configured") {
        this.#current.set(row.environment_id, JSON.parse(row.configuration));
        seen.push(JSON.parse(row.configuration));
      }
    }
    for (const id of won.values()) breaches.push(`a success is without its configuration: ${id}`);
    for (const { environment, isAsExpected, words } of this.#answered.splice(0)) {
      if (!moments.get(environment)?.some(isAsExpected)) breaches.push(`${words}: ${environment}`);
    }
    this.#edits.splice(0);
    for (const { deployment, patch } of this.#starts.splice(0)) {
      if (!this.#leadsThere(deployment, patch)) breaches.push(`a runner's patch: ${deployment}`);
    }
    return breaches;
  }

  #follow(row: LogRow, moments: readonly Document[], won: Map<string, string>) {
    const written = JSON.parse(row.configuration) as Document;
    if (row.kind === "configured") return this.#followConfigured(row, written, won);
    const id = row.deployment_id;
    const plan = this.#plans.get(id);
    if (!plan) return "a deployment that nobody has asked for";
    if (row.kind === "succeeded") return void won.set(row.environment_id, id);
    if (row.kind === "created") return this.#followCreated(id, plan, written, moments);
    const expected = this.#resultOf(id, row.environment_id);
    if (row.kind === "conflict") {
      return expected && "a deployment fails whose patch applies";
    }
    if (!expected) return "a deployment starts whose patch does not apply";
    this.#results.set(id, expected);
    this.#bases.set(id, this.current(row.environment_id));
    return isEqual(written, expected)
      ? undefined
      : "a deployment starts with another configuration";
  }

  #followCreated(id: string, plan: Plan, written: Document, moments: readonly Document[]) {
    this.#results.set(id, written);
    const possible =
      "patch" in plan
        ? moments.map((document) => applyByReference(document, plan.patch))
        : [this.#results.get(plan.copyOf)];
    const isPossible = possible.some((each) => each && isEqual(each, written));
    return isPossible ? undefined : "a deployment is created with another configuration";
  }

  #followConfigured(row: LogRow, written: Document, won: Map<string, string>) {
    const { environment_id: environment } = row;
    const winner = won.get(environment);
    if (winner !== undefined) {
      won.delete(environment);
      const expected = this.#resultOf(winner, environment);
      if (expected && isEqual(written, expected)) return undefined;
      return "a configuration is not what its changes make of it";
    }
    const at = this.#edits.findIndex(
      (edit) => edit.environment === environment && isEqual(edit.document, written),
    );
    if (at < 0) return "a configuration changes without a cause";
    this.#edits.splice(at, 1);
    return undefined;
  }

  /** Whether a patch turns what a deployment was started on into what it brings, and says of what. */
  #leadsThere(deployment: string, patch: readonly Operation[]): boolean {
    const base = this.#bases.get(deployment);
    const result = base && applyByReference(base, patch);
    if (!base || !result || !isEqual(result, this.#results.get(deployment))) return false;
    return recordsWhatWas(base, patch);
  }

  /** What a deployment brings to the current configuration; undefined if its patch does not apply. */
  #resultOf(id: string, environment: string): Document | undefined {
    const plan = this.#plans.get(id);
    if (plan && "patch" in plan) return applyByReference(this.current(environment), plan.patch);
    return this.#results.get(id);
  }

  async #readLog(): Promise<LogRow[]> {
    const { results } = await env.DB.prepare(
      `select * from walk_log where id > ?1
        and environment_id in (select value from json_each(?2)) order by id`,
    )
      .bind(this.#seen, JSON.stringify([...this.#current.keys()]))
      .all<LogRow>();
    this.#seen = results.at(-1)?.id ?? this.#seen;
    return results;
  }
}
