import type { ResourceChange } from "../../../runner/src/report-lines.ts";
import type { Report } from "../../program/src/index.ts";
import { type KubernetesObject, nameOf } from "./objects.ts";
import { type End, readState } from "./states.ts";

/** What is known of an object beside what the cluster says of it. */
export interface Details {
  /** By name: why it is not ready. */
  problems: ReadonlyMap<string, string>;
  /** The deployment has failed: nothing waits for what is in progress. */
  hasFailed?: boolean;
}

/** The objects of an apply set, as resources of the stack. */
export class Resources {
  readonly #report: Report;
  /** The names of those that the set had before this run. */
  readonly #existing: ReadonlySet<string>;

  constructor(report: Report, before: readonly KubernetesObject[]) {
    this.#report = report;
    this.#existing = new Set(before.map(nameOf));
  }

  /** Those that have changed. */
  reportChanges(objects: readonly KubernetesObject[], details: Details): void {
    for (const each of objects) this.#report.resource(this.#describe(each, details));
  }

  /** All that the stack has. */
  reportAll(objects: readonly KubernetesObject[], details: Details): void {
    this.#report.allResources(objects.map((each) => this.#describe(each, details)));
  }

  #describe(object: KubernetesObject, { problems, hasFailed = false }: Details): ResourceChange {
    const { namespace, name, deletionTimestamp } = object.metadata;
    const { end, text } = readState(object);
    const problem = problems.get(nameOf(object));
    const operation = this.#existing.has(nameOf(object)) ? "UPDATE" : "CREATE";
    return {
      template_id: nameOf(object),
      resource_type: `${object.apiVersion}/${object.kind}`,
      physical_id: namespace === undefined ? name : `${namespace}/${name}`,
      status:
        deletionTimestamp === undefined
          ? toStatus(operation, end, hasFailed)
          : "DELETE_IN_PROGRESS",
      status_reason: problem === undefined ? text : `${text}; ${problem}`,
    };
  }
}

function toStatus(operation: string, end: End, hasFailed: boolean): string {
  return `${operation}_${hasFailed && end === "IN_PROGRESS" ? "FAILED" : end}`;
}
