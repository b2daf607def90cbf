import { canonicalId } from "../../../lib/ids.ts";
import { link, quote } from "./mrkdwn.ts";

/** So much is shown of the names of projects, environments, alarms and records. */
export const NAME_LENGTH = 100;
const UNKNOWN = "unknown";

/** Where records of a type are read, of those that are read by their ID alone. */
const PATHS = new Map([
  ["project", "projects"],
  ["environment", "environments"],
  ["component", "components"],
  ["stack", "stacks"],
  ["variable", "variables"],
  ["deployment", "deployments"],
]);

/** The data of an event. It is ours, but a message is never refused for it. */
export class EventData {
  readonly #fields: Record<string, unknown>;

  constructor(data: unknown) {
    this.#fields = typeof data === "object" && data !== null ? { ...data } : {};
  }

  in(field: string): EventData {
    return new EventData(this.#fields[field]);
  }

  list(field: string): EventData[] {
    const value = this.#fields[field];
    return Array.isArray(value) ? value.map((each) => new EventData(each)) : [];
  }

  /** 0 if there is none. */
  count(field: string): number {
    const value = this.#fields[field];
    return typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
  }

  /** As mrkdwn; empty if there is none. */
  text(field: string, maximum: number): string {
    const value = this.#fields[field];
    return typeof value === "string" ? quote(value, maximum) : "";
  }

  /** The name of a record, or its ID if it has none. */
  name(maximum = NAME_LENGTH): string {
    return this.text("name", maximum) || this.text("id", maximum) || UNKNOWN;
  }

  /** The same, as a link to the record of this type. */
  named(type: string, origin: string | undefined): string {
    return linkTo(type, this.text("id", NAME_LENGTH), this.name(), origin);
  }

  /** An ID in a field of its own, as a link to the record of this type. */
  reference(field: string, type: string, origin: string | undefined): string {
    const id = this.text(field, NAME_LENGTH);
    return linkTo(type, id, id || UNKNOWN, origin);
  }
}

function linkTo(type: string, id: string, label: string, origin: string | undefined): string {
  const path = PATHS.get(type);
  if (!origin || !path || canonicalId(id) === undefined) return label;
  return link(`${origin}/v1/${path}/${id}`, label);
}
