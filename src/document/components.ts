import type { OpenAPIHono } from "@hono/zod-openapi";
import type { EXPOSED_HEADERS } from "../http/cors.ts";
import { durationOf } from "../lib/quantities.ts";
import { WINDOW_MS } from "../rate-limits/policies.ts";

export type OpenApiDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

/** Without a known key there is no window: a cross-origin request, or a limit of the client's address. */
const ABSENT = "Absent if the request was refused before its credential was known.";

/** `Allow` is of a method that a path does not have, so that no operation documents it. */
type HeaderName = Exclude<(typeof EXPOSED_HEADERS)[number], "Allow">;

export const HEADERS: Record<HeaderName, ReturnType<typeof header>> = {
  "X-Request-Id": header("Identifies this request in the service's log."),
  "X-D1-Bookmark": header(
    "Send it with a later request to read data at least as new. Absent if the request did not need " +
      "the database.",
  ),
  "X-Ratelimit-Limit": header(
    `Requests that the policy admits in any ${durationOf(WINDOW_MS)}. ${ABSENT}`,
    "integer",
  ),
  "X-Ratelimit-Remaining": header(`Requests that are admitted now. ${ABSENT}`, "integer"),
  "X-Ratelimit-Reset": header(`Seconds until more requests are available. ${ABSENT}`, "integer"),
  "RateLimit-Policy": header(
    `The policy, its quota and its window: \`"default";q=100;w=60\`. ${ABSENT}`,
  ),
  RateLimit: header(
    `The remaining requests, and the seconds until the reset: \`"default";r=99;t=60\`. ${ABSENT}`,
  ),
  ETag: header(
    "Of a resource: its version and a digest of it, for `If-Match` and `If-None-Match`. Otherwise a weak " +
      "digest of the response, for `If-None-Match`.",
  ),
  Location: header("The path of the created resource, or of the page that follows."),
  "Idempotency-Replayed": header(
    "`true` if this repeats the response to an earlier request with the same `Idempotency-Key`.",
  ),
  "Retry-After": header("Seconds to wait before a retry.", "integer"),
  "Deployment-Desired": header("What the runner must do: `continue`, `cancel`, or `stop` at once."),
};

const COMMON_HEADERS: readonly HeaderName[] = ["X-Request-Id"];
const OF_KNOWN_CREDENTIAL: readonly HeaderName[] = [
  "X-D1-Bookmark",
  "X-Ratelimit-Limit",
  "X-Ratelimit-Remaining",
  "X-Ratelimit-Reset",
  "RateLimit-Policy",
  "RateLimit",
];
const RETRY_AFTER: readonly HeaderName[] = ["Retry-After"];

function header(description: string, type: "string" | "integer" = "string") {
  return { description, schema: { type } };
}

/**
 * Adds the headers to every reply, and replaces the error replies of every operation by references:
 * written out, they would make the document four times as long.
 */
export function addHeadersAndShareErrors(document: OpenApiDocument): void {
  /** Names by the text of the reply. */
  const names = new Map<string, string>();
  const shared: Record<string, DocumentedReply> = {};
  for (const operation of operationsOf(document)) {
    const { operationId = "", security = [], responses = {} } = operation;
    const audience = audienceOf(security);
    for (const [status, reply] of Object.entries(responses)) {
      const isError = Number(status) >= 400;
      const added = isError ? errorHeaders(status) : successHeaders(operation, status);
      const known = audience !== "Public" && status !== "401" ? OF_KNOWN_CREDENTIAL : [];
      const own = HEADERS_OF_AUDIENCE[audience];
      reply.headers = headerReferences([...COMMON_HEADERS, ...known, ...own, ...added]);
      if (!isError) continue;
      const text = JSON.stringify(reply);
      const name = names.get(text) ?? nameOfErrors(status, operationId, reply) + audience;
      if (shared[name] && !names.has(text)) throw new Error(`Two error replies are named ${name}`);
      names.set(text, name);
      shared[name] = reply;
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  const sorted = Object.entries(shared).toSorted(([a], [b]) => (a < b ? -1 : 1));
  Object.assign(document.components ?? {}, { responses: Object.fromEntries(sorted) });
}

function errorHeaders(status: string): readonly HeaderName[] {
  return status === "429" ? RETRY_AFTER : [];
}

function successHeaders(operation: DocumentedOperation, status: string): HeaderName[] {
  const {
    "x-record": isResource = false,
    "x-polled": isPolled = false,
    parameters = [],
  } = operation;
  const isIdempotent = parameters.some(({ name }) => name === "Idempotency-Key");
  return [
    ...((isResource || isPolled) && status !== "204" ? (["ETag"] as const) : []),
    ...((isResource && status === "201") || status === "303" ? (["Location"] as const) : []),
    ...(isIdempotent ? (["Idempotency-Replayed"] as const) : []),
  ];
}

/** Replaces parameters that several operations have by references. */
export function shareParameters(document: OpenApiDocument): void {
  const uses = new Map<string, { name: string; count: number }>();
  const all = operationsOf(document).flatMap(({ parameters = [] }) => parameters);
  for (const parameter of all) {
    const text = JSON.stringify(parameter);
    uses.set(text, { name: parameter.name ?? "", count: (uses.get(text)?.count ?? 0) + 1 });
  }
  const names = [...uses.values()].map(({ name }) => name);
  const isShared = (parameter: DocumentedParameter) => {
    const { name, count } = uses.get(JSON.stringify(parameter)) ?? { name: "", count: 0 };
    return count > 1 && names.filter((each) => each === name).length === 1;
  };
  const shared = all.filter(isShared).map((each) => [pascalCase(each.name ?? ""), each]);
  for (const operation of operationsOf(document)) {
    operation.parameters = operation.parameters?.map((each) =>
      isShared(each) ? { $ref: `#/components/parameters/${pascalCase(each.name ?? "")}` } : each,
    );
    if (operation.parameters === undefined) delete operation.parameters;
  }
  Object.assign(document.components ?? {}, { parameters: Object.fromEntries(shared) });
}

type Audience = "" | "ForRunners" | "Public";

const HEADERS_OF_AUDIENCE: Record<Audience, readonly HeaderName[]> = {
  "": [],
  ForRunners: ["Deployment-Desired"],
  Public: [],
};

function audienceOf(security: readonly object[]): Audience {
  if (security.some((each) => "session" in each)) return "";
  return security.some((each) => "runner_token" in each) ? "ForRunners" : "Public";
}

/** More examples would make the name too long. */
const MAXIMUM_NAMED_EXAMPLES = 3;

/** `Error404NoProject` for a reply with the example `no_project`; else after its first operation. */
function nameOfErrors(status: string, operationId: string, { content }: DocumentedReply): string {
  const names = Object.keys(content?.["application/json"]?.examples ?? {});
  const name = names.length > MAXIMUM_NAMED_EXAMPLES ? operationId : names.join("_");
  return `Error${status}${pascalCase(name)}`;
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

interface DocumentedReply {
  headers?: object;
  content?: Record<string, { examples?: object }>;
  $ref?: string;
}

interface DocumentedParameter {
  name?: string;
  $ref?: string;
}

interface DocumentedOperation {
  operationId?: string;
  "x-record"?: boolean;
  "x-polled"?: boolean;
  parameters?: DocumentedParameter[] | undefined;
  security?: object[];
  responses?: Record<string, DocumentedReply>;
}

function operationsOf(document: OpenApiDocument): DocumentedOperation[] {
  return Object.values(document.paths ?? {}).flatMap((item) => Object.values(item));
}

function headerReferences(names: readonly HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
