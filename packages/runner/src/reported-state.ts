import { isSafeUrl } from "../../../src/lib/safe-url.ts";
import type { Output, Outputs, ReportedResource, StackReport } from "./api-types.ts";
import { LineError, REPORT_LIMITS, type ReportLine, type ResourceChange } from "./report-lines.ts";

/** Undefined if it cannot be masked. */
export type Mask = (text: string) => string | undefined;

const URL_OUTPUT = "url";
const DELETED = "DELETE_COMPLETE";
/** The API requires a type, and a text for an ID that does not exist yet. */
const DEFAULTS = { physical_id: "", resource_type: "Resource" };

/** What the lines of a report say together, without secrets. */
export class ReportedState {
  readonly #mask: Mask;
  /** By template ID. Undefined: no line has one, so that the API changes none. */
  #resources: Map<string, ReportedResource> | undefined;
  /** Whether a line has had all resources of the stack. */
  #isComplete = false;
  /** Single ones that no report has sent, by template ID. */
  #unsent = new Map<string, ReportedResource>();
  readonly #outputs = new Map<string, string>();
  #statusReason: string | undefined;

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  /** The last one that the command has given. */
  get statusReason(): string | undefined {
    return this.#statusReason;
  }

  get outputs(): Outputs {
    return Object.fromEntries(this.#outputs);
  }

  /** @throws LineError, and then changes nothing. */
  apply(line: ReportLine): void {
    if ("resource" in line) {
      const resources = this.#resources ?? new Map();
      const resource = this.#complete(line.resource, resources);
      add(resources, resource);
      this.#resources = resources;
      this.#unsent.set(resource.template_id, resource);
    } else if ("resources" in line) {
      const resources = new Map<string, ReportedResource>();
      for (const each of line.resources) add(resources, this.#complete(each, resources));
      this.#resources = resources;
      this.#isComplete = true;
    } else if ("output" in line) this.#addOutput(line.output);
    else this.#statusReason = this.#masked(line.status_reason);
  }

  /** Whether one report cannot have all that has changed. */
  get exceedsReport(): boolean {
    return !this.#isComplete && this.#unsent.size > REPORT_LIMITS.resources;
  }

  toReport(): Omit<StackReport, "seq" | "status"> {
    const changed = [...this.#unsent.values()].slice(0, REPORT_LIMITS.resources);
    return {
      ...(this.#isComplete && this.#resources && { resources: [...this.#resources.values()] }),
      ...(!this.#isComplete && changed.length > 0 && { changed_resources: changed }),
      ...(this.#outputs.size > 0 && {
        outputs: [...this.#outputs].map(([name, value]) => ({ name, value })),
      }),
    };
  }

  /** After a report that the server has. What has changed since then is another object. */
  setSent({ changed_resources: sent = [] }: Pick<StackReport, "changed_resources">): void {
    for (const each of sent) {
      if (this.#unsent.get(each.template_id) === each) this.#unsent.delete(each.template_id);
    }
  }

  /** A later resource replaces an earlier one, from which it takes the ID and the type that it does not have. */
  #complete(
    change: ResourceChange,
    earlier: ReadonlyMap<string, ReportedResource>,
  ): ReportedResource {
    const { physical_id, resource_type, ...masked } = this.#maskResource(change);
    const known = earlier.get(masked.template_id) ?? this.#resources?.get(masked.template_id);
    return {
      ...masked,
      physical_id: physical_id ?? known?.physical_id ?? DEFAULTS.physical_id,
      resource_type: resource_type ?? known?.resource_type ?? DEFAULTS.resource_type,
    };
  }

  #maskResource(change: ResourceChange): ResourceChange {
    const { template_id, physical_id, resource_type, status_reason } = change;
    return {
      ...change,
      template_id: this.#masked(template_id),
      ...(physical_id !== undefined && { physical_id: this.#masked(physical_id) }),
      ...(resource_type !== undefined && { resource_type: this.#masked(resource_type) }),
      ...(status_reason !== undefined && { status_reason: this.#masked(status_reason) }),
    };
  }

  #addOutput({ name, value }: Output): void {
    const masked = this.#masked(value);
    if (this.#masked(name) !== name) throw new LineError("output.name has a secret.");
    if (name === URL_OUTPUT && !isSafeUrl(masked)) {
      throw new LineError("The output url must be an http or https URL without credentials.");
    }
    if (!this.#outputs.has(name) && this.#outputs.size >= REPORT_LIMITS.outputs) {
      throw new LineError(`A stack has at most ${REPORT_LIMITS.outputs} outputs.`);
    }
    this.#outputs.set(name, masked);
  }

  #masked(text: string): string {
    const masked = this.#mask(text);
    if (masked === undefined) throw new LineError("It cannot be masked.");
    return masked;
  }
}

/** A list without a resource marks it as deleted, too: such ones make room for others. @throws LineError */
function add(resources: Map<string, ReportedResource>, resource: ReportedResource): void {
  const id = resource.template_id;
  if (!resources.has(id) && resources.size >= REPORT_LIMITS.resources) {
    if (resource.status === DELETED) return;
    const deleted = [...resources.values()].find(({ status }) => status === DELETED);
    if (!deleted) throw new LineError(`A stack has at most ${REPORT_LIMITS.resources} resources.`);
    resources.delete(deleted.template_id);
  }
  resources.set(id, resource);
}
