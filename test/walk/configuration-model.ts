import { env } from "cloudflare:workers";
import {
  ALL_STACKS,
  applyByReference,
  canonical,
  type Document,
  hasCorrectOldValues,
  type Operation,
  resultOf,
  type StackState,
} from "./patches.ts";

/** The requested change: a patch, or the configuration of another deployment. */
type RequestedChange = { patch: readonly Operation[] } | { copyOf: string };

/** Written by the triggers in `invariants.ts`. */
interface LogRow {
  id: number;
  kind: "created" | "started" | "conflict" | "succeeded" | "configured";
  environment_id: string;
  deployment_id: string;
  configuration: string;
  /** JSON: a `StackState`. Null where the configuration of an environment changes. */
  stacks: string | null;
}

/** A rejected patch or an accepted edit, to be verified by the next `check`. */
interface AcceptedRequest {
  environment: string;
  isAsExpected: (current: Document) => boolean;
  description: string;
}

const isEqual = (one: unknown, other: unknown) => canonical(one) === canonical(other);

/**
 * The expected configurations: edits and successful deployments applied in the order of the log.
 * json-p3 applies the patches, so the model does not depend on the service.
 */
export class ConfigurationModel {
  readonly #current: Map<string, Document>;
  readonly #requestedChanges = new Map<string, RequestedChange>();
  /** The configuration after each deployment, computed at its creation and again at its start. */
  readonly #results = new Map<string, Document>();
  /** The configuration that each deployment was started on. */
  readonly #bases = new Map<string, Document>();
  readonly #edits: { environment: string; document: Document }[] = [];
  readonly #accepted: AcceptedRequest[] = [];
  readonly #starts: { deployment: string; patch: readonly Operation[] }[] = [];
  #seen = 0;

  constructor(environments: readonly string[]) {
    this.#current = new Map(environments.map((id) => [id, {}]));
  }

  current(environment: string): Document {
    return this.#current.get(environment) ?? {};
  }

  requestChange(deployment: string, plan: RequestedChange): void {
    this.#requestedChanges.set(deployment, plan);
  }

  /** Records that the service rejected a patch. */
  recordRejectedPatch(environment: string, patch: readonly Operation[], state: StackState): void {
    const isAsExpected = (document: Document) => resultOf(document, patch, state) === undefined;
    this.#accepted.push({ environment, isAsExpected, description: "a valid patch is rejected" });
  }

  /** Records that the service accepted an edit. */
  recordEdit(environment: string, document: Document): void {
    this.#edits.push({ environment, document });
    const isAsExpected = (current: Document) => isEqual(current, document);
    this.#accepted.push({ environment, isAsExpected, description: "an accepted edit is missing" });
  }

  /** Records the patch that a runner received. */
  recordStart(deployment: string, patch: readonly Operation[]): void {
    this.#starts.push({ deployment, patch });
  }

  /** Follows the rest of the log; returns descriptions of differences. */
  check(rows: readonly LogRow[]): string[] {
    this.#seen = rows.at(-1)?.id ?? this.#seen;
    const breaches: string[] = [];
    const history = new Map([...this.#current].map(([id, document]) => [id, [document]]));
    const succeeded = new Map<string, string>();
    for (const row of rows) {
      const seen = history.get(row.environment_id) ?? [];
      const description = this.#follow(row, seen, succeeded);
      if (description) breaches.push(`${description}: ${row.deployment_id ?? row.environment_id}`);
      if (row.kind === "configured") {
        this.#current.set(row.environment_id, JSON.parse(row.configuration));
        seen.push(JSON.parse(row.configuration));
      }
    }
    for (const id of succeeded.values())
      breaches.push(`a success does not change the configuration: ${id}`);
    for (const { environment, isAsExpected, description } of this.#accepted.splice(0)) {
      if (!history.get(environment)?.some(isAsExpected))
        breaches.push(`${description}: ${environment}`);
    }
    this.#edits.splice(0);
    for (const { deployment, patch } of this.#starts.splice(0)) {
      if (!this.#isCorrectPatch(deployment, patch))
        breaches.push(`a runner received a wrong patch: ${deployment}`);
    }
    return breaches;
  }

  #follow(row: LogRow, history: readonly Document[], succeeded: Map<string, string>) {
    const written = JSON.parse(row.configuration) as Document;
    if (row.kind === "configured") return this.#followConfigured(row, written, succeeded);
    const id = row.deployment_id;
    const plan = this.#requestedChanges.get(id);
    if (!plan) return "an unrequested deployment is created";
    if (row.kind === "succeeded") return void succeeded.set(row.environment_id, id);
    if (row.kind === "created") return this.#followCreated(id, plan, written, history);
    const state = JSON.parse(row.stacks ?? "") as StackState;
    const expected = this.#resultOf(id, row.environment_id, state);
    if (row.kind === "conflict") {
      return expected && "a deployment with a valid patch fails";
    }
    if (!expected) return "a deployment with an invalid patch starts";
    this.#results.set(id, expected);
    this.#bases.set(id, this.current(row.environment_id));
    return isEqual(written, expected)
      ? undefined
      : "a deployment starts with another configuration";
  }

  #followCreated(
    id: string,
    plan: RequestedChange,
    written: Document,
    history: readonly Document[],
  ) {
    this.#results.set(id, written);
    const possible =
      "patch" in plan
        ? history.map((document) => resultOf(document, plan.patch, ALL_STACKS))
        : [this.#results.get(plan.copyOf)];
    const isPossible = possible.some((each) => each && isEqual(each, written));
    return isPossible ? undefined : "a deployment is created with another configuration";
  }

  #followConfigured(row: LogRow, written: Document, succeeded: Map<string, string>) {
    const { environment_id: environment } = row;
    const deployment = succeeded.get(environment);
    if (deployment !== undefined) {
      succeeded.delete(environment);
      const expected = this.#results.get(deployment);
      if (expected && isEqual(written, expected)) return undefined;
      return "a success writes another configuration";
    }
    const at = this.#edits.findIndex(
      (edit) => edit.environment === environment && isEqual(edit.document, written),
    );
    if (at < 0) return "a configuration changes without a cause";
    this.#edits.splice(at, 1);
    return undefined;
  }

  /** Whether the patch leads from the base to the result and records the correct old values. */
  #isCorrectPatch(deployment: string, patch: readonly Operation[]): boolean {
    const base = this.#bases.get(deployment);
    const result = base && applyByReference(base, patch);
    if (!base || !result || !isEqual(result, this.#results.get(deployment))) return false;
    return hasCorrectOldValues(base, patch);
  }

  /** The configuration after a deployment; undefined if it can't start. */
  #resultOf(id: string, environment: string, state: StackState): Document | undefined {
    const plan = this.#requestedChanges.get(id);
    if (plan && "patch" in plan) return resultOf(this.current(environment), plan.patch, state);
    return this.#results.get(id);
  }

  /** Reads the rest of the log, for `check`. */
  selectLog(): D1PreparedStatement {
    return env.DB.prepare(
      `select * from walk_log where id > ?1
        and environment_id in (select value from json_each(?2)) order by id`,
    ).bind(this.#seen, JSON.stringify([...this.#current.keys()]));
  }
}
