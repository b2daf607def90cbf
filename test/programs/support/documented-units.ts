import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { LOST_AFTER_MS } from "../../../src/features/deployments/deployments/lifecycle.ts";
import { REFUSAL_INTERVAL_MS } from "../../../src/features/housekeeping/audit/store.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { FIFTHS, SHARED_FIFTHS } from "../../../src/rate-limits/shared-use.ts";

export const limit = (name: keyof typeof LIMITS) => LIMITS[name].value;
export const count = (value: number) => value.toLocaleString("en-US");
export const seconds = (ms: number) => count(ms / 1_000);
export const minutes = (ms: number) => count(ms / 60_000);
export const hours = (ms: number) => count(ms / 3_600_000);
export const days = (ms: number) => count(ms / 86_400_000);
export const kib = (bytes: number) => count(bytes / 1_024);
export const mib = (bytes: number) => count(bytes / 1_024 ** 2);
export const LOG_GIB = limit("logBytesOfDay") / 1_024 ** 3;
export const LOG_DAYS = limit("logRetentionMs") / 86_400_000;

const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
export const word = (value: number) => WORDS[value] ?? (value === 100 ? "a hundred" : count(value));
const ORDINALS = [
  ...["", "first", "second", "third", "fourth", "fifth"],
  ...["sixth", "seventh", "eighth", "ninth", "tenth"],
];
export const ordinal = (value: number) => ORDINALS[value] ?? `${value}th`;

/** As in the retry schedule: `5 s, 5 min, 2 h`. */
export function duration(ms: number): string {
  if (ms < 60_000) return `${seconds(ms)} s`;
  return ms < 3_600_000 ? `${minutes(ms)} min` : `${hours(ms)} h`;
}
export const ORGANIZATION = limit("organizationRequests");
export const SHARED = (ORGANIZATION * SHARED_FIFTHS) / FIFTHS;
export const ONCE_A_MINUTE = `once ${REFUSAL_INTERVAL_MS === 60_000 ? "a minute" : duration(REFUSAL_INTERVAL_MS)}`;
export const RUNNER_LOST = `${word(LOST_AFTER_MS / 60_000)} to ${word(LOST_AFTER_MS / 60_000 + 1)} minutes`;

/** Of a program, which runs when it is imported, or of the browser's code. */
export function constantOf(file: string, name: string): number {
  const source = readFileSync(join(ROOT, file), "utf8");
  const [, value] =
    new RegExp(`(?<!\\w)${name.replace(".", "\\.")}"? ?[=:] ([\\d_]+)\\b`).exec(source) ?? [];
  if (value === undefined) throw new Error(`${file} has no number ${name}`);
  return Number(value.replaceAll("_", ""));
}

export function nodeOf(folder: string): string {
  const { engines } = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as {
    engines: { node: string };
  };
  return engines.node.replace(">=", "");
}
export const STEPS_OF_WALK = constantOf("test/walk/random-walk.ts", "STEPS");
export const AUDIT_MIB = mib(limit("auditBytesOfDay"));
