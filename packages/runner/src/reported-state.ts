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
      this.#resources = this.#merge(this.#resources ?? new Map(), [line.resource]);
    } else if ("resources" in line) {
      this.#resources = this.#merge(new Map(), line.resources);
    } else if ("output" in line) this.#addOutput(line.output);
    else this.#statusReason = this.#masked(line.status_reason);
  }

  toReport(): Pick<StackReport, "resources" | "outputs"> {
    return {
      ...(this.#resources && { resources: [...this.#resources.values()] }),
      ...(this.#outputs.size > 0 && {
        outputs: [...this.#outputs].map(([name, value]) => ({ name, value })),
      }),
    };
  }

  /** A later resource replaces an earlier one, from which it takes the ID and the type that it does not have. */
  #merge(
    earlier: ReadonlyMap<string, ReportedResource>,
    changes: readonly ResourceChange[],
  ): Map<string, ReportedResource> {
    const merged = new Map(earlier);
    for (const change of changes) {
      const { physical_id, resource_type, ...masked } = this.#maskResource(change);
      const known = merged.get(masked.template_id) ?? this.#resources?.get(masked.template_id);
      merged.set(masked.template_id, {
        ...masked,
        physical_id: physical_id ?? known?.physical_id ?? DEFAULTS.physical_id,
        resource_type: resource_type ?? known?.resource_type ?? DEFAULTS.resource_type,
      });
      if (merged.size > REPORT_LIMITS.resources) removeDeleted(merged);
    }
    return merged;
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

/** Makes room for another resource: the API marks those that a list leaves out as deleted. */
function removeDeleted(resources: Map<string, ReportedResource>): void {
  for (const [id, { status }] of resources) {
    if (status !== DELETED) continue;
    resources.delete(id);
    return;
  }
  throw new LineError(`A stack has at most ${REPORT_LIMITS.resources} resources.`);
}
