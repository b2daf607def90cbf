import { OpenApiGeneratorV31 } from "@asteasolutions/zod-to-openapi";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { LIMITS } from "../lib/limits.ts";
import { COMPONENTS } from "../lib/schemas.ts";
import { POLICIES } from "../rate-limits/policies.ts";
import { withErrorReplies } from "./operation-errors.ts";

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
  const definitions = router.openAPIRegistry.definitions.map((definition) =>
    definition.type === "route"
      ? { ...definition, route: withErrorReplies(definition.route) }
      : definition,
  );
  const generator = new OpenApiGeneratorV31([...COMPONENTS.definitions, ...definitions]);
  // Before the webhooks, which the generator writes first: see `component`.
  generator.generateComponents();
  const document = generator.generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Longshore",
      version: "1",
      description: `${DESCRIPTION}\n\n${describePolicies()}`,
      contact: { name: "Longshore", url: "https://github.com/longshore/longshore/issues" },
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: "/", description: "This installation" }],
    tags,
  });
  document.components = { ...document.components, headers: HEADERS };
  addHeadersAndShareErrors(document);
  return simplifySchemas(document);
}

/**
 * Writes what client generators misread in another way that OpenAPI 3.1 allows. They drop a
 * `{ allOf: [{ $ref }, { description }] }`, which becomes `{ $ref, description }` (JSON Schema
 * 2020-12, section 8.2.3.1). They name each value of an `enum`, so a property with one is a `const`.
 */
function simplifySchemas<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(simplifySchemas) as Value;
  const [reference, annotations, ...others] = "allOf" in value ? [value.allOf].flat() : [];
  if (others.length === 0 && hasOnly(["$ref"], reference) && hasOnly(ANNOTATIONS, annotations)) {
    const { allOf: _, ...own } = value as Value & { allOf: unknown };
    return { ...reference, ...annotations, ...own } as Value;
  }
  const entries = Object.entries(value).map(([key, each]) => {
    return [key, simplifySchemas(key === "properties" ? withConstants(each) : each)];
  });
  return Object.fromEntries(entries) as Value;
}

function withConstants(properties: Record<string, { enum?: unknown[] }>): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { enum: values = [], ...rest }]) => {
      if (values.length === 0) return [name, rest];
      return [
        name,
        values.length === 1 ? { ...rest, const: values[0] } : { ...rest, enum: values },
      ];
    }),
  );
}

const ANNOTATIONS = ["description", "example", "default"];

function hasOnly(keys: readonly string[], value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return Object.keys(value).every((key) => keys.includes(key));
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
  /** Names by the text of the reply. */
  const names = new Map<string, string>();
  const shared: Record<string, DocumentedReply> = {};
  for (const { operationId = "", security = [], responses = {} } of operationsOf(document)) {
    const audience = audienceOf(security);
    for (const [status, reply] of Object.entries(responses)) {
      const isError = Number(status) >= 400;
      const added = (isError && HEADERS_BY_STATUS[status]) || [];
      reply.headers = headerReferences([...HEADERS_OF_AUDIENCE[audience], ...added]);
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

type Audience = "" | "ForRunners" | "Public";

const HEADERS_OF_AUDIENCE: Record<Audience, readonly HeaderName[]> = {
  "": AUTHENTICATED_HEADERS,
  ForRunners: [...AUTHENTICATED_HEADERS, "Deployment-Desired"],
  Public: COMMON_HEADERS,
};

function audienceOf(security: readonly object[]): Audience {
  if (security.some((each) => "api_key" in each)) return "";
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

interface DocumentedOperation {
  operationId?: string;
  security?: object[];
  responses?: Record<string, DocumentedReply>;
}

function operationsOf(document: OpenApiDocument): DocumentedOperation[] {
  return Object.values(document.paths ?? {}).flatMap((item) => Object.values(item));
}

function headerReferences(names: readonly HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
