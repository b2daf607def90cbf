import type { RouteConfig } from "@hono/zod-openapi";
import { credentialsOf, type Operation } from "../http/operation.ts";
import { PROTECTED_PARTS, type ProtectedPart } from "../lib/protected-parts.ts";
import type { DocumentedOperation, OperationDocument } from "./feature-document.ts";
import { withErrorReplies } from "./operation-errors.ts";
import { withHeaderParameters } from "./operation-headers.ts";

export const POLICY_EXTENSION = "x-ratelimit-policy";
export const SCOPE_EXTENSION = "x-scope";
const PROTECTION_EXTENSION = "x-protected";

/** The route as zod-openapi describes it: with its errors, its headers and our extensions. */
export function toRoute(operation: Operation, document: OperationDocument): RouteConfig {
  const { method, path, operationId, policy, writes, resource, polled, scope, request } = operation;
  const { tags, summary, role, changes = [], responses } = document;
  requireSameReply(operation, document);
  const needs = [
    role && describeRole(role),
    scope && `Needs the scope \`${scope}\`.`,
    ...changes.map(describeProtection),
  ];
  const description = [...needs, document.description].filter(Boolean).join(" ");
  const route = {
    ...{ method, path, operationId, tags, summary },
    ...(description && { description }),
    security: credentialsOf(operation).map((name) => ({ [name]: [] })),
    ...(policy && { [POLICY_EXTENSION]: policy }),
    ...(writes && { "x-writes": writes }),
    ...(resource && { "x-record": resource }),
    ...(polled && { "x-polled": polled }),
    ...(scope && { [SCOPE_EXTENSION]: scope }),
    ...(changes.length > 0 && { [PROTECTION_EXTENSION]: changes }),
    ...(request && { request: request() }),
    responses,
  };
  const documented: DocumentedOperation = { operation, document };
  return withHeaderParameters(withErrorReplies(route, documented), documented);
}

/** The Worker does not have the document, so it states the status and whether the response is a page. */
function requireSameReply(
  { operationId, status = 200, page }: Operation,
  { responses }: OperationDocument,
): void {
  const [first = "", reply = {}] = Object.entries(responses)[0] ?? [];
  const isPage = "content" in reply && "text/html" in (reply.content ?? {});
  if (first === String(status) && isPage === (page === true)) return;
  throw new Error(`The document of ${operationId} has another first response`);
}

/** Source: docs/api.md, "Roles". */
function describeRole(role: NonNullable<OperationDocument["role"]>): string {
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
