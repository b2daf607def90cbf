import type { OpenAPIHono } from "@hono/zod-openapi";
import { LIMITS } from "../lib/limits.ts";
import { ERROR_REPLIES } from "./replies.ts";

export type OpenApiDocument = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;

const DESCRIPTION = `
The control plane of a deployment platform. Teams keep projects and environments in it, and who may
do what with them.

**Authentication.** Send an API key in the \`x-api-key\` header. A key belongs to one organization;
whatever belongs to another answers \`not_found\`. The calls of runners, \`/v1/runner/*\`, take a runner
token there instead.

**Identifiers** come as 22 characters of base58, and sort by time. Wherever one is accepted, the same
UUID in its 8-4-4-4-12 layout or as 32 hexadecimal digits is accepted too.

**Lists** answer \`data\`, \`has_more\` and, if there is more, \`next_page\`: send that as \`after\`.

**Bodies** are strict: an unknown field is \`bad_input\`, and so is a missing body; send \`{}\` where every
field is optional. Text holds no control characters; where it has lines, tabs and newlines are accepted.
A timestamp is RFC 3339, within the years 0001 to 9999 in UTC. Optional fields without a value are left out
of answers; where a request may clear one, \`null\` does so too.

**Rate limits** hold for any 60 seconds, per key, and for all keys of an organization together.
\`X-Ratelimit-Reset\` is the number of seconds until there is more room than now; a refused caller who
waits that long is admitted. A client address that sends more than ${LIMITS.addressRequests.value} requests in a minute without
a valid key is refused, and with it keys that were never used; a key that was used before passes.

**Reading your own writes.** Reads come from the nearest replica of the database. Send the
\`X-D1-Bookmark\` of an answer with a later request to read from one that has seen as much.
`.trim();

const TAGS = [
  { name: "Organizations", description: "Tenants, and the accounts that belong to them." },
  { name: "API keys", description: "Credentials of one organization, each for one membership." },
  { name: "Runner pools", description: "Who carries deployments out, and for which environments." },
  { name: "Projects", description: "What a team ships, and its connection to a cloud provider." },
  { name: "Changelog", description: "Who did what to which record of a project, and when." },
  { name: "Project members", description: "Who may do what in a project." },
  { name: "Environments", description: "The places a project runs in, and their configuration." },
  { name: "Components", description: "The parts of an app, inside an environment." },
  { name: "Stacks", description: "The units of provisioning in an environment." },
  { name: "Alarms", description: "What is known of the health of stacks." },
  {
    name: "Variables",
    description: "Encrypted values that components and environments run with.",
  },
  { name: "Deployments", description: "Moves of an environment to a configuration and source." },
  { name: "Resources", description: "What stacks consist of at the provider, as runners report." },
  { name: "Runners", description: "How deployments are claimed, carried out, and reported." },
  {
    name: "Notification integrations",
    description: "Where the events of a project are sent, and which.",
  },
  { name: "Deliveries", description: "What was sent to an integration, and what came of it." },
  {
    name: "Webhooks",
    description:
      "What is sent to a webhook, by POST, signed as Standard Webhooks says: its libraries " +
      "verify it. The type in the body is one of those below. An event may arrive more than once, " +
      "with the same `webhook-id`, and in any order.",
  },
  { name: "Service", description: "The service itself: set-up, health, and this reference." },
];

const HEADERS = {
  "X-Request-Id": header("Names this request in the service's log."),
  "X-D1-Bookmark": header("Send it with a later request to read what this one saw or wrote."),
  "X-Ratelimit-Limit": header("Requests that the policy admits in any 60 seconds.", "integer"),
  "X-Ratelimit-Remaining": header("Requests that have room now.", "integer"),
  "X-Ratelimit-Reset": header("Seconds until there is more room than now.", "integer"),
  "RateLimit-Policy": header('The policy, its quota and its window: `"default";q=100;w=60`.'),
  RateLimit: header('What is left, and for how long: `"default";r=99;t=60`.'),
  "Retry-After": header("Seconds to wait before a retry.", "integer"),
  "Deployment-Desired": header(
    "What the runner is to do: `continue`, `cancel`, or `stop` at once.",
  ),
  Allow: header("The methods that the path has, if it lacks the one that was used."),
};

type HeaderName = keyof typeof HEADERS;

const EVERYWHERE: HeaderName[] = ["X-Request-Id"];
const TO_A_KNOWN_KEY: HeaderName[] = [
  ...EVERYWHERE,
  "X-D1-Bookmark",
  "X-Ratelimit-Limit",
  "X-Ratelimit-Remaining",
  "X-Ratelimit-Reset",
  "RateLimit-Policy",
  "RateLimit",
];
const WITH_STATUS: Partial<Record<string, HeaderName[]>> = { 429: ["Retry-After"], 501: ["Allow"] };

function header(description: string, type: "string" | "integer" = "string") {
  return { description, schema: { type } };
}

/** The rate limits by name: how many requests each admits in any 60 seconds, and where. */
export type Policies = Readonly<Record<string, { limit: number; appliesTo: string }>>;

/** The OpenAPI 3.1 document of a router: its routes, and nothing that it has not. */
export function describeApi(router: OpenAPIHono, policies: Policies): OpenApiDocument {
  router.openAPIRegistry.registerComponent("securitySchemes", "api_key", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "`lsh_…`, as `POST /v1/orgs/{org_id}/api-keys` gave it, once.",
  });
  router.openAPIRegistry.registerComponent("securitySchemes", "runner_token", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description:
      "`lsr_…`, as `POST /v1/orgs/{org_id}/runner-pools/{pool_id}/tokens` gave it, once. It opens " +
      "`/v1/runner/*` and `PUT /v1/stacks/{stack_id}/alarms/{name}`, and nothing else.",
  });
  router.openAPIRegistry.registerComponent("securitySchemes", "bootstrap_token", {
    type: "http",
    scheme: "bearer",
    description: "The `BOOTSTRAP_TOKEN` of the deployment.",
  });
  const document = router.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Longshore",
      version: "1",
      description: `${DESCRIPTION}\n\n${describePolicies(policies)}`,
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
    },
    servers: [{ url: "/", description: "This deployment" }],
    tags: TAGS,
  });
  document.components = { ...document.components, headers: HEADERS };
  shareErrorReplies(document);
  return document;
}

function describePolicies(policies: Policies): string {
  const each = Object.entries(policies).map(
    ([name, { limit, appliesTo }]) => `\`${name}\` admits ${limit} (${appliesTo})`,
  );
  const { value: factor } = LIMITS.organizationRequests;
  return (
    `**The policies**, by what they admit in any 60 seconds for one key: ${each.join(", ")}. ` +
    `\`organization\` admits ${factor} times as much of each for all keys of an organization ` +
    "together; the headers name it only when it refuses."
  );
}

/**
 * Gives every reply its headers, and every operation the same nine error replies by reference: the
 * routes spell them out, for their types, which would make the document four times as long.
 */
function shareErrorReplies(document: OpenApiDocument): void {
  const shared: Record<string, DocumentedReply> = {};
  for (const { security = [], responses = {} } of operationsOf(document)) {
    const needsKey = security.some((each) => "api_key" in each || "runner_token" in each);
    const isRunners = security.length > 0 && security.every((each) => "runner_token" in each);
    const known = isRunners ? [...TO_A_KNOWN_KEY, "Deployment-Desired" as const] : TO_A_KNOWN_KEY;
    for (const [status, reply] of Object.entries(responses)) {
      if (!(status in ERROR_REPLIES)) {
        reply.headers = refer(needsKey ? known : EVERYWHERE);
        continue;
      }
      const headers = refer([...TO_A_KNOWN_KEY, ...(WITH_STATUS[status] ?? [])]);
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

function refer(names: readonly HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
