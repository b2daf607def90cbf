import type { ResourceChange } from "../../../runner/src/report-lines.ts";
import type { Report } from "../../program/src/index.ts";
import { type Diagnostic, type Hook, type Message, parseMessage } from "./apply-messages.ts";
import { toPhysicalId, toTemplateId } from "./identifiers.ts";
import { type LockHolder, readLockHolder } from "./state-lock.ts";

/**
 * What a resource goes through, by the action that is planned for it. Others change nothing that a stack has: `noop`,
 * `move`, and `read` of a data source.
 */
const OPERATIONS: Readonly<Record<string, string>> = {
  create: "CREATE",
  update: "UPDATE",
  replace: "UPDATE",
  delete: "DELETE",
  import: "IMPORT",
};

/** Without a message of their own, these end with the apply. */
const ENDS: Readonly<Record<string, string>> = {
  import: "IMPORT_COMPLETE",
  remove: "DELETE_SKIPPED",
};

/** A replacement deletes and creates, each with messages of its own. */
const HALVES_OF_REPLACEMENT = 2;

/** Follows an apply: reports resources as they change, and prints the rest. */
export class ApplyProgress {
  readonly #report: Report;
  /** By address. */
  #planned = new Map<string, string>();
  #halves = new Map<string, Set<string>>();
  #changes = new Map<string, ResourceChange>();
  #firstError: string | undefined;
  #lockHolder: LockHolder | undefined;

  constructor(report: Report) {
    this.#report = report;
  }

  /** Why it fails, in the words of the first error. */
  get firstError(): string | undefined {
    return this.#firstError;
  }

  /** Of the lock that could not be had. */
  get lockHolder(): LockHolder | undefined {
    return this.#lockHolder;
  }

  /** What has changed, by address. */
  get changes(): ReadonlyMap<string, ResourceChange> {
    return this.#changes;
  }

  start(): void {
    this.#planned = new Map();
    this.#halves = new Map();
    this.#changes = new Map();
    this.#firstError = undefined;
    this.#lockHolder = undefined;
  }

  /** Reads a line of `apply -json`. */
  read(line: string): void {
    const message = parseMessage(line);
    if (!message) {
      console.log(line);
      return;
    }
    const { type, change, hook, diagnostic } = message;
    if (type === "planned_change" && change) this.#plan(change.resource.addr, change.action);
    else if (diagnostic) this.#readDiagnostic(diagnostic);
    else if (hook) this.#readHook(message, hook);
    else if (type === "change_summary" || type === "log") console.log(message["@message"]);
  }

  /** The apply has failed: nothing works on what was in progress. */
  fail(): void {
    for (const [address, { status }] of this.#changes) {
      if (!status.endsWith("_IN_PROGRESS")) continue;
      this.#change(address, {
        status: status.replace("_IN_PROGRESS", "_FAILED"),
        status_reason: "It had not ended when the apply did.",
      });
    }
  }

  #plan(address: string, action: string): void {
    this.#planned.set(address, action);
    const status = ENDS[action];
    if (status !== undefined)
      this.#changes.set(address, { template_id: toTemplateId(address), status });
  }

  #readHook(message: Message, hook: Hook): void {
    // The messages of `apply_progress` come every ten seconds, and those of provisioners have what they print.
    console.log(message["@message"]);
    const { addr: address, resource_type: type } = hook.resource;
    const planned = this.#planned.get(address) ?? hook.action ?? "";
    const operation = OPERATIONS[planned];
    if (operation === undefined || OPERATIONS[hook.action ?? ""] === undefined) return;
    const outcome = this.#outcomeOf(message.type, address, planned, hook.action ?? "");
    if (outcome === undefined) return;
    const id = toPhysicalId(hook.id_key === "id" ? hook.id_value : undefined);
    this.#change(address, {
      resource_type: type,
      status: `${operation}_${outcome}`,
      ...(id !== undefined && { physical_id: id }),
    });
  }

  #outcomeOf(type: string, address: string, planned: string, action: string): string | undefined {
    if (type === "apply_start") return "IN_PROGRESS";
    if (type === "apply_errored") return "FAILED";
    if (type !== "apply_complete") return undefined;
    if (planned !== "replace") return "COMPLETE";
    const halves = (this.#halves.get(address) ?? new Set()).add(action);
    this.#halves.set(address, halves);
    return halves.size === HALVES_OF_REPLACEMENT ? "COMPLETE" : "IN_PROGRESS";
  }

  #readDiagnostic({ severity, summary, detail, address }: Diagnostic): void {
    const holder = readLockHolder(`${summary}\n${detail}`);
    if (holder) {
      this.#lockHolder = holder;
      return;
    }
    const text = detail ? `${summary}: ${detail}` : summary;
    const isError = severity === "error";
    console.log(`${isError ? "Error" : "Warning"}: ${text}`);
    if (!isError) return;
    this.#firstError ??= address ? `${address}: ${text}` : text;
    const failed = address === undefined ? undefined : this.#changes.get(address);
    if (address === undefined || !failed?.status.endsWith("_FAILED")) return;
    this.#change(address, { status: failed.status, status_reason: text });
  }

  #change(address: string, change: Omit<ResourceChange, "template_id">): void {
    const { status_reason: _, ...earlier } = this.#changes.get(address) ?? {};
    const changed = { ...earlier, template_id: toTemplateId(address), ...change };
    this.#changes.set(address, changed);
    this.#report.resource(changed);
  }
}
