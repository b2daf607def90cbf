import { appendFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { REPORT_LIMITS, type ResourceChange } from "../../../runner/src/report-lines.ts";

const DELETED = "DELETE_COMPLETE";

/** Appends lines to the report of the stack (docs/executors.md), each with one write. */
export class Report {
  readonly #path: string;
  #hasTooMany = false;
  /** By their logical IDs, as last reported. */
  readonly #resources = new Map<string, ResourceChange>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Does nothing if the last line of the resource says the same. */
  resource(change: ResourceChange): void {
    const resource = toReported(change);
    const known = this.#resources.get(resource.template_id);
    if (isDeepStrictEqual(known, resource)) return;
    if (!known && this.#isFull) {
      this.#noteTooMany();
      return;
    }
    this.#resources.set(resource.template_id, resource);
    this.#append({ resource });
  }

  /** All resources that the stack has; others are marked as deleted. */
  allResources(changes: readonly ResourceChange[]): void {
    const resources = changes.slice(0, REPORT_LIMITS.resources).map(toReported);
    if (resources.length < changes.length) this.#noteTooMany();
    this.#resources.clear();
    for (const each of resources) this.#resources.set(each.template_id, each);
    this.#append({ resources });
  }

  output(name: string, value: string): void {
    this.#append({ output: { name, value } });
  }

  /** Why the stack is as it is, or why it fails. */
  statusReason(text: string): void {
    this.#append({ status_reason: toReason(text) });
  }

  /** Those that are deleted make room. */
  get #isFull(): boolean {
    const existing = [...this.#resources.values()].filter(({ status }) => status !== DELETED);
    return existing.length >= REPORT_LIMITS.resources;
  }

  /** Once. The runner would note each line that it does not accept. */
  #noteTooMany(): void {
    if (this.#hasTooMany) return;
    this.#hasTooMany = true;
    console.log(`Only ${REPORT_LIMITS.resources} resources of the stack are reported.`);
  }

  #append(line: object): void {
    appendFileSync(this.#path, `${JSON.stringify(line)}\n`);
  }
}

function toReported(resource: ResourceChange): ResourceChange {
  const { status_reason: reason } = resource;
  return { ...resource, ...(reason !== undefined && { status_reason: toReason(reason) }) };
}

/** Tools write longer reasons than the server accepts, with lines and colors. */
function toReason(text: string): string {
  const line = text.replaceAll(/\p{Cc}+/gu, " ").trim();
  const maximum = REPORT_LIMITS.statusReasonLength;
  return line.length > maximum ? `${line.slice(0, maximum - 1).toWellFormed()}…` : line;
}
