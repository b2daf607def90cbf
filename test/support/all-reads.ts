import { env } from "cloudflare:workers";
import { type Operation, operations } from "./contract.ts";
import { pathWith } from "./created.ts";

/** Reads with a new value each time. */
/** Sessions are not in backups. */
const WITH_SESSIONS = [
  "listMemberSessions",
  "listSessionFamily",
  "listMemberFamily",
  "listApiKeyFamily",
];
const NOT_COMPARABLE = ["installSlack", "exportAuditLog", ...WITH_SESSIONS];

/**
 * The rows that a read by ID is about, with every other parameter of its path. By default those of the table
 * that has the name of the parameter.
 */
const SOURCES: Record<string, string> = {
  org_id: "select id as org_id, id as organization_id from organizations",
  deployment_id: "select id as deployment_id, environment_id, organization_id from deployments",
  promotion: `select deployment_id, environment_id, organization_id from (
    select deployments.id as deployment_id, environments.id as environment_id, deployments.organization_id
    from deployments join environments on environments.project_id = deployments.project_id)`,
  resource_id: "select id as resource_id, stack_id, environment_id, organization_id from resources",
  integration_id: "select id as integration_id, project_id, organization_id from integrations",
  delivery_id: `select id as delivery_id, integration_id, project_id, organization_id
    from deliveries`,
  recovery_id: `select id as recovery_id, integration_id, project_id, organization_id
    from recoveries`,
  pool_id: "select id as pool_id, organization_id as org_id, organization_id from runner_pools",
  token_id: `select id as token_id, pool_id, organization_id as org_id, organization_id
    from runner_tokens`,
  invitation_id:
    "select id as invitation_id, organization_id as org_id, organization_id from invitations",
  key_id:
    "select id as key_id, organization_id as org_id, organization_id from (select * from api_keys where session_id is null)",
  member_id: `select membership_id as member_id, project_id, organization_id from project_members`,
  service_account_id: `select id as membership_id, organization_id as org_id, organization_id
    from (select * from memberships where kind = 'service_account')`,
  trust_id: "select id as trust_id, organization_id as org_id, organization_id from trusts",
  membership_id:
    "select id as member_id, organization_id as org_id, organization_id from memberships",
};

const isRead = ({ operationId, method, security }: Operation) =>
  method === "GET" &&
  security.some((each) => "api_key" in each) &&
  !NOT_COMPARABLE.includes(operationId);

export const READS = operations.filter(isRead);

/** Whose last parameter has the name of another record's. */
const SOURCE_OF: Record<string, string> = {
  getMember: "membership_id",
  previewPromotion: "promotion",
  getServiceAccount: "service_account_id",
};

function sourceOf(names: readonly string[]): string {
  const [name = "", ...others] = names;
  if (others.length > 0) throw new Error(`Add the rows of {${others.at(-1)}} to SOURCES`);
  return `select id as ${name}, organization_id from ${name.replace(/_id$/, "s")}`;
}

/** The paths of an operation, for every record of an organization. */
export async function pathsOf(operation: Operation, organizationId: string): Promise<string[]> {
  const { path, operationId } = operation;
  const names = [...path.matchAll(/\{(.+?)\}/g)].map(([, name]) => String(name));
  const last = names.at(-1);
  if (last === undefined) return [path];
  const source = SOURCES[SOURCE_OF[operationId] ?? last] ?? sourceOf(names);
  const { results } = await env.DB.prepare(
    `${source} where organization_id = ?`.replace(
      "organizations where organization_id",
      "organizations where id",
    ),
  )
    .bind(organizationId)
    .all<Record<string, string>>();
  return results.map((row) => pathWith(operation, row));
}

export function isList({ parameters = [] }: Operation): boolean {
  return parameters.some(({ name }) => name === "limit");
}
