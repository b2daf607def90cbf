import type { RouteConfig } from "@hono/zod-openapi";
import { type Access, credentialsOf, type Declared } from "../http/declared.ts";
import { PROTECTED_PARTS, type ProtectedPart } from "../lib/protected-parts.ts";
import { withErrorReplies } from "./operation-errors.ts";
import { withHeaderParameters } from "./operation-headers.ts";

export const POLICY_EXTENSION = "x-ratelimit-policy";
export const SCOPE_EXTENSION = "x-scope";
const PROTECTION_EXTENSION = "x-protected";

/** What an operation declares, as `apiRoute` keeps it. */
export type Operation = Declared &
  Pick<RouteConfig, "tags" | "summary" | "description" | "request">;

/** The route as zod-openapi describes it: with its errors, its headers and our extensions. */
export function toRoute(operation: Operation): RouteConfig {
  const { method, path, operationId, tags, summary, request, responses } = operation;
  const { access, policy, writes, resource, polled, changes = [] } = operation;
  const { role = undefined, scope = null } = typeof access === "object" ? access : {};
  const needs = [
    role && describeRole(role),
    scope && `Needs the scope \`${scope}\`.`,
    ...changes.map(describeProtection),
  ];
  const description = [...needs, operation.description].filter(Boolean).join(" ");
  const route = {
    ...{ method, path, operationId, tags, summary },
    ...(description && { description }),
    security: credentialsOf(access).map((name) => ({ [name]: [] })),
    ...(policy && { [POLICY_EXTENSION]: policy }),
    ...(writes && { "x-writes": writes }),
    ...(resource && { "x-record": resource }),
    ...(polled && { "x-polled": polled }),
    ...(scope && { [SCOPE_EXTENSION]: scope }),
    ...(changes.length > 0 && { [PROTECTION_EXTENSION]: changes }),
    ...(request && { request }),
    responses,
  } as RouteConfig;
  return withHeaderParameters(withErrorReplies(route, operation), operation);
}

type Role = NonNullable<Extract<Access, object>["role"]>;

/** Source: docs/api.md, "Roles". */
function describeRole(role: Role): string {
  if (role === "admin") return "Needs the role `admin` in the organization.";
  return `Needs the role \`${role}\` in the project, or \`admin\` in the organization.`;
}

const CONCERNED = {
  environment: "the environment is protected",
  project: "an environment of the project is protected",
  organization: "it concerns a protected environment, as everything without boundaries does",
} as const;

/** Source: docs/protection.md, "What the rules depend on". Undefined: the operation itself says it. */
function describeProtection(part: ProtectedPart): string | undefined {
  const { needs, ...rest } = PROTECTED_PARTS[part];
  if (!("reach" in rest)) return undefined;
  if (needs === "full")
    return `Changing ${part} needs a full credential (\`full\` in \`GET /v1/whoami\`) if ${CONCERNED[rest.reach]}.`;
  return `In a protected environment, changing ${part} is for those whom its rules let \`${needs}\`.`;
}
