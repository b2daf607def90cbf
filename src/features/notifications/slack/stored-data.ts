import { isSafeUrl } from "../../../lib/safe-url.ts";
import { dateTime, quote, urlLink } from "./block-kit.ts";

/**
 * An event's data is kept as it was written, also if the type gets fields later: every field may be
 * missing. `?.` reads fields of any JSON value, and the functions below check the value.
 */
export type Stored<Data> = Data extends readonly (infer Item)[]
  ? readonly Stored<Item>[] | undefined
  : Data extends object
    ? { readonly [Name in keyof Data]?: Stored<NonNullable<Data[Name]>> } | undefined
    : unknown;

export function readText(value: unknown, maximumLength: number): string {
  return typeof value === "string" ? quote(value, maximumLength) : "";
}

/** Empty unless people may follow it, and if it is longer as a link: a URL that is cut leads elsewhere. */
export function readUrl(value: unknown, maximumLength: number): string {
  const url = typeof value === "string" && isSafeUrl(value) ? urlLink(new URL(value)) : "";
  return url.length > maximumLength ? "" : url;
}

export function readTime(value: unknown): string {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? "unknown" : dateTime(new Date(time).toISOString());
}

export function readCount(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
}

export function readList<Item>(value: readonly Item[] | undefined): readonly Item[] {
  return Array.isArray(value) ? value : [];
}
