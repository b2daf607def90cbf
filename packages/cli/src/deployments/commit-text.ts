import { stripVTControlCharacters } from "node:util";
import { isObject } from "../../../../src/lib/json-value.ts";

/** The API's limits, in UTF-16 code units: test/programs/cli/commit-text.test.ts compares them. */
export const TEXT_LIMITS = { message: 20_000, field: 500, reason: 1_000 } as const;

type Fields = Record<string, unknown>;

/** Commits have texts that the service refuses: tools write them, and git accepts nearly everything. */
export interface Cleaned<T> {
  value: T;
  /** What was changed, for people. */
  remarks: string[];
}

const PERSONS = ["author", "committer"] as const;

/** A source whose commit the service accepts, as far as its texts are concerned. */
export function cleanSource<T extends Fields>(source: T): Cleaned<T> {
  const { git } = source;
  if (!isObject(git) || !isObject(git["commit"])) return { value: source, remarks: [] };
  const remarks: string[] = [];
  const commit: Fields = { ...git["commit"] };
  const { message } = commit;
  if (typeof message === "string") {
    const cleaned = cleanParagraphs(message, TEXT_LIMITS.message);
    commit["message"] = cleaned.value;
    remarks.push(...cleaned.remarks.map((each) => `The commit message ${each}`));
  }
  for (const name of PERSONS) {
    const person = commit[name];
    if (!isObject(person)) continue;
    const cleaned = cleanPerson(person);
    commit[name] = cleaned.value;
    remarks.push(...cleaned.remarks.map((each) => `The commit ${name}'s ${each}`));
  }
  return { value: { ...source, git: { ...git, commit } }, remarks };
}

/** All fields of a person are optional, so an empty one is left out. */
function cleanPerson(person: Fields): Cleaned<Fields> {
  const remarks: string[] = [];
  const entries = Object.entries(person).flatMap(([name, value]) => {
    if (typeof value !== "string") return [[name, value]];
    const cleaned = cleanLine(value, TEXT_LIMITS.field);
    const isEmpty = cleaned.value.trim() === "";
    const changes = isEmpty ? ["is empty. It was left out."] : cleaned.remarks;
    remarks.push(...changes.map((each) => `${name} ${each}`));
    return isEmpty ? [] : [[name, cleaned.value]];
  });
  return { value: Object.fromEntries(entries), remarks };
}

/** CI jobs give the message of a commit for the reason of a deployment. */
export function cleanReason(reason: string): Cleaned<string> {
  const { value, remarks } = cleanLine(reason, TEXT_LIMITS.reason);
  return { value, remarks: remarks.map((each) => `The reason ${each}`) };
}

function cleanLine(text: string, maximum: number): Cleaned<string> {
  const line = withoutSequences(text).replaceAll(/\p{Cc}+/gu, " ");
  return clean(text, line, maximum);
}

function cleanParagraphs(text: string, maximum: number): Cleaned<string> {
  const lines = withoutSequences(text).replaceAll("\u0085", "\n");
  return clean(text, lines.replaceAll(/(?![\t\n\r])\p{Cc}/gu, ""), maximum);
}

/** Without whole sequences for terminals, of which an ESC is only the beginning. */
function withoutSequences(text: string): string {
  return stripVTControlCharacters(text).toWellFormed();
}

function clean(given: string, cleaned: string, maximum: number): Cleaned<string> {
  const isLong = cleaned.length > maximum;
  const remarks = [
    ...(cleaned === given ? [] : ["has control characters. They were removed or replaced."]),
    ...(isLong ? [`is longer than ${maximum} characters. The rest was cut.`] : []),
  ];
  // The cut may divide a character.
  const value = isLong
    ? `${cleaned.slice(0, maximum - 1).replace(/[\ud800-\udbff]$/, "")}…`
    : cleaned;
  return { value, remarks };
}
