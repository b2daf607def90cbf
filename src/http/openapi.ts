import { OpenApiGeneratorV31 } from "@asteasolutions/zod-to-openapi";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { LIMITS } from "../lib/limits.ts";
import { Identifier, Timestamp } from "../lib/schemas.ts";
import { POLICIES } from "../rate-limits/policies.ts";
import { ERROR_REPLIES } from "./replies.ts";

export interface Tag {
  name: string;
  description: string;
}

export type OpenApiDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

const DESCRIPTION = `
The control plane of a deployment platform. It stores projects, their environments, and the roles of
their members.

**Authentication.** Send an API key in the \`x-api-key\` header. A key belongs to one organization;
a record of another organization is \`not_found\`. The runner endpoints, \`/v1/runner/*\`, take a
runner token in the same header instead.

**Identifiers** are 22 characters of base58, and sort by time. A request may also use the same UUID in
its 8-4-4-4-12 layout or as 32 hexadecimal digits.

**Lists** have \`data\`, \`has_more\` and, if there are more records, \`next_page\`: send it as \`after\`.

**Bodies** are strict: an unknown field is \`bad_input\`, and so is a missing body; send \`{}\` if every
field is optional. Text has no control characters; text with lines may have tabs and newlines.
A timestamp is RFC 3339, within the years 0001 to 9999 in UTC. Responses leave out optional fields without
a value; where a request may clear a field, \`null\` clears it.

**Rate limits** apply to any 60 seconds, per key, and to all keys of an organization together.
\`X-Ratelimit-Reset\` is the number of seconds until more requests are available; a request after that
time is admitted. A client address that sends more than ${LIMITS.addressRequests.value} requests in a minute without a valid key
is refused, also with keys that were never used; a key that was used before is admitted.

**Reading your own writes.** Reads use the nearest replica of the database. Send the
\`X-D1-Bookmark\` of a response with a later request to read data that is at least as new.
`.trim();

const HEADERS = {
  "X-Request-Id": header("Identifies this request in the service's log."),
  "X-D1-Bookmark": header("Send it with a later request to read data at least as new."),
  "X-Ratelimit-Limit": header("Requests that the policy admits in any 60 seconds.", "integer"),
  "X-Ratelimit-Remaining": header("Requests that are admitted now.", "integer"),
  "X-Ratelimit-Reset": header("Seconds until more requests are available.", "integer"),
  "RateLimit-Policy": header('The policy, its quota and its window: `"default";q=100;w=60`.'),
  RateLimit: header(
    'The remaining requests, and the seconds until the reset: `"default";r=99;t=60`.',
  ),
  "Retry-After": header("Seconds to wait before a retry.", "integer"),
  "Deployment-Desired": header("What the runner must do: `continue`, `cancel`, or `stop` at once."),
  Allow: header("The methods that the path has."),
};

type HeaderName = keyof typeof HEADERS;

const COMMON_HEADERS: HeaderName[] = ["X-Request-Id"];
const AUTHENTICATED_HEADERS: HeaderName[] = [
  ...COMMON_HEADERS,
  "X-D1-Bookmark",
  "X-Ratelimit-Limit",
  "X-Ratelimit-Remaining",
  "X-Ratelimit-Reset",
  "RateLimit-Policy",
  "RateLimit",
];
const HEADERS_BY_STATUS: Partial<Record<string, HeaderName[]>> = {
  429: ["Retry-After"],
  501: ["Allow"],
};

function header(description: string, type: "string" | "integer" = "string") {
  return { description, schema: { type } };
}

export function describeApi(router: OpenAPIHono, tags: Tag[]): OpenApiDocument {
  router.openAPIRegistry.register("Identifier", Identifier);
  router.openAPIRegistry.register("Timestamp", Timestamp);
  router.openAPIRegistry.registerComponent("securitySchemes", "api_key", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "`lsh_…`. `POST /v1/orgs/{org_id}/api-keys` returns it once.",
  });
  router.openAPIRegistry.registerComponent("securitySchemes", "runner_token", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description:
      "`lsr_…`. `POST /v1/orgs/{org_id}/runner-pools/{pool_id}/tokens` returns it once. It is valid " +
      "for `/v1/runner/*` and `PUT /v1/stacks/{stack_id}/alarms/{name}` only.",
  });
  router.openAPIRegistry.registerComponent("securitySchemes", "bootstrap_token", {
    type: "http",
    scheme: "bearer",
    description: "The `BOOTSTRAP_TOKEN` of this installation.",
  });
  const generator = new OpenApiGeneratorV31(router.openAPIRegistry.definitions);
  // A component gets the description of its first use, unless it is registered and generated before
  // the webhooks, which the generator writes first.
  generator.generateComponents();
  const document = generator.generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Longshore",
      version: "1",
      description: `${DESCRIPTION}\n\n${describePolicies()}`,
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: "/", description: "This installation" }],
    tags,
  });
  document.components = { ...document.components, headers: HEADERS };
  addHeadersAndShareErrors(document);
  return describeReferences(document);
}

/**
 * Writes each `{ allOf: [{ $ref }, { description }] }`, which the generator emits for a described
 * reference, as `{ $ref, description }`: client generators drop the former, and OpenAPI 3.1 allows
 * the latter (JSON Schema 2020-12, section 8.2.3.1).
 */
function describeReferences<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(describeReferences) as Value;
  const [reference, annotation, ...others] = "allOf" in value ? [value.allOf].flat() : [];
  if (others.length === 0 && isOnly("$ref", reference) && isOnly("description", annotation)) {
    const { allOf: _, ...own } = value as Value & { allOf: unknown };
    return { ...reference, ...annotation, ...own } as Value;
  }
  const entries = Object.entries(value).map(([key, each]) => [key, describeReferences(each)]);
  return Object.fromEntries(entries) as Value;
}

function isOnly(key: string, value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).join() === key;
}

function describePolicies(): string {
  const each = Object.entries(POLICIES).map(
    ([name, { limit, appliesTo }]) => `\`${name}\` admits ${limit} (${appliesTo})`,
  );
  const { value: factor } = LIMITS.organizationRequests;
  return (
    `**The policies**, with the requests that they admit in any 60 seconds for one key: ${each.join(", ")}. ` +
    `\`organization\` admits ${factor} times as many of each for all keys of an organization ` +
    "together; the headers name it only when it refuses a request."
  );
}

/**
 * Adds the headers to every reply, and replaces the error replies of every operation by references:
 * written out, they would make the document four times as long.
 */
function addHeadersAndShareErrors(document: OpenApiDocument): void {
  const shared: Record<string, DocumentedReply> = {};
  for (const { security = [], responses = {} } of operationsOf(document)) {
    const needsKey = security.some((each) => "api_key" in each || "runner_token" in each);
    const isForRunners = security.length > 0 && security.every((each) => "runner_token" in each);
    const withKey = isForRunners
      ? [...AUTHENTICATED_HEADERS, "Deployment-Desired" as const]
      : AUTHENTICATED_HEADERS;
    for (const [status, reply] of Object.entries(responses)) {
      if (!(status in ERROR_REPLIES)) {
        reply.headers = headerReferences(needsKey ? withKey : COMMON_HEADERS);
        continue;
      }
      const headers = headerReferences([
        ...AUTHENTICATED_HEADERS,
        ...(HEADERS_BY_STATUS[status] ?? []),
      ]);
      shared[`Error${status}`] = { ...reply, headers };
      responses[status] = { $ref: `#/components/responses/Error${status}` };
    }
  }
  Object.assign(document.components ?? {}, { responses: shared });
}

interface DocumentedReply {
  headers?: object;
  $ref?: string;
}

interface DocumentedOperation {
  security?: object[];
  responses?: Record<string, DocumentedReply>;
}

function operationsOf(document: OpenApiDocument): DocumentedOperation[] {
  return Object.values(document.paths ?? {}).flatMap((item) => Object.values(item));
}

function headerReferences(names: readonly HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
