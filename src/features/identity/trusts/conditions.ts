import type { Issue } from "../../../lib/errors.ts";
import { matchesGlob } from "../../../lib/glob.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { LINE } from "../../../lib/text-patterns.ts";
import type { TrustConditions } from "../credentials/model.ts";

/** Token claims that the trust's other fields, or the service itself, check. */
const CHECKED_CLAIMS = ["iss", "aud", "exp", "nbf", "iat", "jti"];

/** For the audit log: an e-mail address is personal data. */
export function withoutAddresses<Value>(claims: Record<string, Value>): Record<string, Value> {
  const others = Object.entries(claims).filter(([, value]) => !hasAddress(value));
  return Object.fromEntries(others);
}

export function hasAddress(value: unknown): boolean {
  return /[^\s"@]@(?:[\w-]+\.)+[a-z]{2}/i.test(JSON.stringify(value));
}

/** Every problem of `conditions` as a caller sent them, with paths below them. */
export function findConditionProblems(sent: unknown): Issue[] {
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) {
    return [{ path: "", message: "Send an object of claims and their values." }];
  }
  const conditions = Object.entries(sent);
  const maximum = LIMITS.trustConditions.value;
  if (conditions.length === 0 || conditions.length > maximum) {
    return [{ path: "", message: `Send 1 to ${maximum} conditions.` }];
  }
  const issues = conditions.flatMap(([claim, value]) => findProblems(claim, value));
  if (issues.length > 0 || conditions.some(([, value]) => listOf(value).every(isSpecific))) {
    return issues;
  }
  const message = "Send at least one condition whose every value has more than wildcards.";
  return [{ path: "", message }];
}

/** Whether the token claims meet every condition. One that is a list or an object meets none. */
export function meetsConditions(
  conditions: TrustConditions,
  claims: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(conditions).every(([claim, values]) => {
    const text = Object.hasOwn(claims, claim) ? toText(claims[claim]) : undefined;
    return text !== undefined && [values].flat().some((pattern) => matchesGlob(pattern, text));
  });
}

function toText(claim: unknown): string | undefined {
  if (typeof claim === "string") return claim;
  return typeof claim === "number" || typeof claim === "boolean" ? String(claim) : undefined;
}

function findProblems(claim: string, value: unknown): Issue[] {
  const nameProblem = findNameProblem(claim);
  const values = listOf(value);
  const maximum = LIMITS.trustConditionValues.value;
  const issues: Issue[] = nameProblem ? [{ path: claim, message: nameProblem }] : [];
  if (values.length === 0 || values.length > maximum) {
    return [...issues, { path: claim, message: `Send a text, or a list of 1 to ${maximum}.` }];
  }
  const message = `Send a text of 1 to ${LIMITS.trustConditionLength.value} characters, without control characters.`;
  return values.every(isValidValue) ? issues : [...issues, { path: claim, message }];
}

function findNameProblem(claim: string): string | undefined {
  const maximum = LIMITS.trustConditionNameLength.value;
  if (claim === "__proto__" || !isLine(claim, maximum)) {
    return `Send the name of a claim, of 1 to ${maximum} characters.`;
  }
  if (!CHECKED_CLAIMS.includes(claim)) return undefined;
  return "Leave this claim out: the service checks it for every token, with the issuer and audience of the trust.";
}

function isValidValue(value: unknown): boolean {
  return typeof value === "string" && isLine(value, LIMITS.trustConditionLength.value);
}

function isLine(text: string, maximum: number): boolean {
  return text !== "" && text.length <= maximum && text.isWellFormed() && LINE.test(text);
}

function isSpecific(value: unknown): boolean {
  return typeof value === "string" && /[^*/\s]/.test(value);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}
