import { appendFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { REPORT_LIMITS, type ResourceChange } from "../../../runner/src/report-lines.ts";

/** Appends lines to the report of the stack (docs/executors.md), each with one write. */
export class Report {
  readonly #path: string;
  /** By their logical IDs, as last reported. */
  readonly #resources = new Map<string, ResourceChange>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Does nothing if the last line of the resource says the same. */
  resource(change: ResourceChange): void {
    const resource = toReported(change);
    if (isDeepStrictEqual(this.#resources.get(resource.template_id), resource)) return;
    this.#resources.set(resource.template_id, resource);
    this.#append({ resource });
  }

  /** All resources that the stack has; others are marked as deleted. */
  allResources(changes: readonly ResourceChange[]): void {
    const resources = changes.map(toReported);
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
