import type { Output, ReportedResource } from "./api-types.ts";

/** The API's limits, in UTF-16 code units or bytes: test/programs/runner/runner-report.test.ts compares them. */
export const REPORT_LIMITS = {
  resources: 500,
  resourceNameLength: 255,
  physicalIdLength: 2_048,
  statusReasonLength: 2_000,
  outputs: 50,
  outputNameLength: 100,
  outputBytes: 2_048,
} as const;

const OPERATIONS = [
  ...["CREATE", "UPDATE", "DELETE", "IMPORT"],
  ...["ROLLBACK", "UPDATE_ROLLBACK", "IMPORT_ROLLBACK"],
];
/** Source: the resource statuses of AWS CloudFormation. */
export const REPORTED_RESOURCE_STATUSES: readonly string[] = [
  ...OPERATIONS.flatMap((each) => [`${each}_COMPLETE`, `${each}_FAILED`, `${each}_IN_PROGRESS`]),
  "DELETE_SKIPPED",
];

/** A resource of which a line has only what it changes. */
export type ResourceChange = Pick<ReportedResource, "template_id" | "status"> &
  Partial<ReportedResource>;

export type ReportLine =
  | { resource: ResourceChange }
  | { resources: ResourceChange[] }
  | { output: Output }
  | { status_reason: string };

/** Why a line is ignored. The message has no values of it. */
export class LineError extends Error {}

type Fields = Record<string, unknown>;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
const OUTPUT_NAME = /^[A-Za-z0-9_.-]+$/;
const TIMESTAMP =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Undefined for an empty line. */
export function parseReportLine(bytes: Uint8Array): ReportLine | undefined {
  const text = decode(bytes);
  if (text.trim() === "") return undefined;
  const line = toFields(parseJson(text), "The line");
  const [name, ...others] = Object.keys(line);
  if (name === undefined || others.length > 0)
    throw new LineError("Write one member in each line.");
  const value = line[name];
  if (name === "resource") return { resource: readResource(value, name) };
  if (name === "resources") return { resources: readResources(value) };
  if (name === "output") return { output: readOutput(value) };
  if (name === "status_reason") return { status_reason: readReason(line, "") };
  throw new LineError("Write resource, resources, output or status_reason.");
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new LineError("It is not UTF-8.");
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message of the parser quotes the text.
    throw new LineError("It is not JSON.");
  }
}

function toFields(value: unknown, what: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw new LineError(`${what} must be an object.`);
}

function readResources(value: unknown): ResourceChange[] {
  if (!Array.isArray(value)) throw new LineError("resources must be an array.");
  return value.map((each, at) => readResource(each, `resources.${at}`));
}

const RESOURCE_FIELDS = [
  ...["template_id", "physical_id", "resource_type"],
  ...["status", "status_reason", "timestamp"],
];

function readResource(value: unknown, path: string): ResourceChange {
  const fields = toFields(value, path);
  refuseOthers(fields, RESOURCE_FIELDS, path);
  const at = `${path}.`;
  const { resourceNameLength, physicalIdLength } = REPORT_LIMITS;
  const { status, timestamp } = fields;
  if (typeof status !== "string" || !REPORTED_RESOURCE_STATUSES.includes(status)) {
    throw new LineError(`${at}status must be a status of CloudFormation, such as CREATE_COMPLETE.`);
  }
  if (timestamp !== undefined) requireTimestamp(timestamp, `${at}timestamp`);
  return {
    template_id: readText(fields, "template_id", at, resourceNameLength),
    status,
    ...(fields["resource_type"] !== undefined && {
      resource_type: readText(fields, "resource_type", at, resourceNameLength),
    }),
    ...(fields["physical_id"] !== undefined && {
      physical_id: readLine(fields, "physical_id", at, physicalIdLength),
    }),
    ...(fields["status_reason"] !== undefined && { status_reason: readReason(fields, at) }),
    ...(timestamp !== undefined && { timestamp: String(timestamp) }),
  };
}

function readOutput(value: unknown): Output {
  const fields = toFields(value, "output");
  refuseOthers(fields, ["name", "value"], "output");
  const name = readLine(fields, "name", "output.", REPORT_LIMITS.outputNameLength);
  if (!OUTPUT_NAME.test(name)) {
    throw new LineError("output.name must have only letters, digits, _, . and -.");
  }
  const text = readString(fields, "value", "output.");
  if (Buffer.byteLength(text) > REPORT_LIMITS.outputBytes) {
    throw new LineError(`output.value must have at most ${REPORT_LIMITS.outputBytes} bytes.`);
  }
  refuseControls(text, "output.value");
  return { name, value: text };
}

function refuseOthers(fields: Fields, known: readonly string[], path: string): void {
  if (Object.keys(fields).every((name) => known.includes(name))) return;
  throw new LineError(`${path} must have no other fields than ${known.join(", ")}.`);
}

function requireTimestamp(value: unknown, path: string): void {
  const [, day] = typeof value === "string" ? (TIMESTAMP.exec(value) ?? []) : [];
  const start = Date.parse(`${day}T00:00:00Z`);
  // `Date.parse` takes February 30 for a day in March.
  const exists = !Number.isNaN(start) && new Date(start).toISOString().startsWith(`${day}T`);
  if (!exists) throw new LineError(`${path} must be as 2027-01-31T00:00:00Z.`);
}

function readText(fields: Fields, name: string, at: string, maximum: number): string {
  const text = readLine(fields, name, at, maximum);
  if (text.trim() === "") throw new LineError(`${at}${name} must not be blank.`);
  return text;
}

function readLine(fields: Fields, name: string, at: string, maximum: number): string {
  const text = readString(fields, name, at);
  if (text.length > maximum) {
    throw new LineError(`${at}${name} must have at most ${maximum} characters.`);
  }
  refuseControls(text, `${at}${name}`);
  return text;
}

/** May have several lines, and tabs. */
function readReason(fields: Fields, at: string): string {
  const text = readString(fields, "status_reason", at);
  readLine(
    { status_reason: text.replaceAll(/[\t\r\n]/g, " ") },
    "status_reason",
    at,
    REPORT_LIMITS.statusReasonLength,
  );
  return text;
}

function readString(fields: Fields, name: string, at: string): string {
  const value = fields[name];
  if (typeof value !== "string") throw new LineError(`${at}${name} must be a text.`);
  return value;
}

function refuseControls(text: string, path: string): void {
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) {
    throw new LineError(`${path} must have no control characters and no lone surrogates.`);
  }
}
