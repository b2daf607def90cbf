import {
  getRefId,
  OpenAPIRegistry,
  OpenApiGeneratorV31,
  zodToOpenAPIRegistry,
} from "@asteasolutions/zod-to-openapi";
import type { z } from "@hono/zod-openapi";
import { describeWebhooks } from "../features/notifications/delivery/webhooks.ts";
import { REPOSITORY_URL } from "../lib/addresses.ts";
import { LIMITS } from "../lib/limits.ts";
import { durationOf } from "../lib/quantities.ts";
import { PERIOD_SECONDS } from "../rate-limits/client-address-limiter.ts";
import { POLICIES, WINDOW_MS } from "../rate-limits/policies.ts";
import {
  addHeadersAndShareErrors,
  HEADERS,
  type OpenApiDocument,
  shareParameters,
} from "./components.ts";
import { type Operation, toRoute } from "./route.ts";
import { simplifySchemas } from "./simplify-schemas.ts";
import { TAGS } from "./tags.ts";

export type { OpenApiDocument };

const DESCRIPTION = `
The control plane of a deployment platform. It stores projects, their environments and encrypted
variables, and the roles of their members. It queues deployments, which your runners execute, and
notifies webhooks and Slack.

**Authentication.** Send an API key in the \`x-api-key\` header. A key belongs to one organization;
a resource of another organization is \`not_found\`. A browser that has signed in sends a session's cookie
instead, which may do what its key may do. The runner endpoints, \`/v1/runner/*\`, take a
runner token in the same header instead.

**Identifiers** are 22 characters of base58, and sort by time. A request may also use the same UUID in
its 8-4-4-4-12 layout or as 32 hexadecimal digits.

**Lists** have \`data\`, \`has_more\` and, if there are more resources, \`next_page\`: send it as \`after\`.

**Bodies** are strict: an unknown field is \`bad_input\`, and so is a missing body; send \`{}\` if every
field is optional. Text has no control characters; text with lines may have tabs and newlines. A
maximum length counts UTF-16 code units, as JavaScript does; no text has lone surrogates.
A timestamp is RFC 3339, within the years 0001 to 9999 in UTC. Responses leave out optional fields without
a value; where a request may clear a field, \`null\` clears it.

**Rate limits** apply to any ${durationOf(WINDOW_MS)}, per key, and to all keys of an organization together.
\`X-Ratelimit-Reset\` is the number of seconds until more requests are available; a request after that
time is admitted. A client address that sends more than ${LIMITS.addressRequests.value} requests in ${durationOf(PERIOD_SECONDS * 1000)} without a valid key
is refused, also with keys that were never used; a key that was used before is admitted.

**Safe writes.** Send an \`Idempotency-Key\` with a POST or PATCH, and repeat the request with it if the
response is lost: the repeat gets the response to the first request, with \`Idempotency-Replayed: true\`.
It needs the access that the request needs, as the caller has it at that time.
A resource has an \`ETag\`: send it as \`If-Match\` with a PUT, PATCH or DELETE, which is a \`conflict\` if
the resource has changed since. An operation that has no such condition refuses the header.

**Polling.** Lists that change while you watch them have a weak \`ETag\`, which covers what the response
shows. Send it as \`If-None-Match\` with the next request: the reply is 304 without a body if nothing
changed. It counts toward the rate limit.

**Reading your own writes.** Reads use the nearest replica of the database. Send the
\`X-D1-Bookmark\` of a response with a later request to read data that is at least as new.
`.trim();

type SecurityScheme = Parameters<OpenAPIRegistry["registerComponent"]>[2];

const SECURITY_SCHEMES: Readonly<Record<string, SecurityScheme>> = {
  api_key: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "`lsh_…`. `POST /v1/orgs/{org_id}/api-keys` returns it once.",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "__Host-longshore",
    description:
      "`lss_…`. `POST /v1/sessions` and sign-in links set it. At http://localhost, its name is " +
      "`longshore-` and the port. `x-api-key` takes precedence. A request that changes something needs " +
      "`Sec-Fetch-Site: same-origin`, or the same `Origin` from a browser that sends no fetch metadata.",
  },
  runner_token: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description:
      "`lsr_…`. `POST /v1/orgs/{org_id}/runner-pools/{pool_id}/tokens` returns it once. It is valid " +
      "for `/v1/runner/*` and `PUT /v1/stacks/{stack_id}/alarms/{name}` only.",
  },
  bootstrap_token: {
    type: "http",
    scheme: "bearer",
    description: "The `BOOTSTRAP_TOKEN` of this installation.",
  },
};

/** The OpenAPI document of the operations. Only the build calls it, because it takes long. */
export function describeApi(operations: readonly Operation[]): OpenApiDocument {
  const registry = new OpenAPIRegistry();
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES)) {
    registry.registerComponent("securitySchemes", name, scheme);
  }
  for (const [name, schema] of namedSchemas()) registry.register(name, schema);
  for (const operation of operations) registry.registerPath(toRoute(operation));
  describeWebhooks(registry);
  const generator = new OpenApiGeneratorV31(registry.definitions);
  // Before the webhooks, which the generator writes first: see `namedSchemas`.
  generator.generateComponents();
  const document = generator.generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Longshore",
      version: "1",
      description: `${DESCRIPTION}\n\n${describePolicies()}`,
      contact: { name: "Longshore", url: `${REPOSITORY_URL}/issues` },
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: "/", description: "This installation" }],
    tags: TAGS,
  });
  // Features may be loaded in any order.
  const schemas = sortByName(document.components?.schemas ?? {});
  document.components = { ...document.components, schemas, headers: HEADERS };
  addHeadersAndShareErrors(document);
  shareParameters(document);
  return simplifySchemas(document);
}

function sortByName<Value>(values: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Each as it was named: one that is used with another description first would be described by that. */
function namedSchemas(): Map<string, z.ZodType> {
  const named = new Map<string, z.ZodType>();
  // Entries of the library's registry are in the order of their creation.
  for (const schema of (
    zodToOpenAPIRegistry as unknown as { _map: Map<z.ZodType, unknown> }
  )._map.keys()) {
    const name = getRefId(schema);
    if (name !== undefined && !named.has(name)) named.set(name, schema);
  }
  return named;
}

function describePolicies(): string {
  const each = Object.entries(POLICIES).map(
    ([name, { limit, appliesTo }]) => `\`${name}\` admits ${limit} (${appliesTo})`,
  );
  const { value: factor } = LIMITS.organizationRequests;
  return (
    `**The policies**, with the requests that they admit in any ${durationOf(WINDOW_MS)} for one key: ${each.join(", ")}. ` +
    `\`organization\` admits ${factor} times as many of each for all keys of an organization ` +
    "together, and keeps its last fifth for memberships, trusts and runner pools that have used less " +
    "than a fifth; the headers name it only when it refuses a request."
  );
}
