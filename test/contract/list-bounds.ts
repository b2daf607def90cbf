import { EVENT_TYPES } from "../../src/features/housekeeping/outbox/events.ts";
import { isList } from "../support/all-reads.ts";
import type { Parsed } from "../support/client.ts";
import { type Operation, operations, resolve } from "../support/contract.ts";
import type { Ids } from "../support/operations.ts";

/** The rows for each row that is sent. */
export const MOST = 3;
/** Who may see the list, and the item after the page. */
export const ONCE = 14;

/** Lists that merge a branch for each type read one row more of each. */
export const BRANCHES: Record<string, number> = { listEvents: EVENT_TYPES.length };

/** The actor's membership and account. */
export const OF_ACTOR = 2;

/** Rows of other tables that an item consists of, apart from those whose IDs or names it lists. */
const JOINED: Record<string, (item: Parsed) => number> = {
  listMembers: () => 1,
  listServiceAccounts: () => 1,
  listProjectMembers: () => 2,
  listAttempts: () => 1,
  listChangelog: namedIn,
  listAuditLog: namedIn,
  getProjectOverview: ({ alarms, queue, recent_deployments, ...shown }) => {
    const { active_deployment, last_deployment, current_deployment } = shown;
    const summaries = [active_deployment, last_deployment, current_deployment].filter(Boolean);
    const creators = summaries.filter((each) => each.created_by);
    return (
      summaries.length + creators.length + alarms.length + queue.length + recent_deployments.length
    );
  },
};

/** The actor, the key, the target that still exists, and what it is in. */
function namedIn({ actor, source, targets }: Parsed): number {
  return (
    (actor?.name ? OF_ACTOR : 0) +
    (source?.name ? 1 : 0) +
    (targets.length > 1 ? targets.length : 0)
  );
}

/** They order a whole family, which the quotas bound. */
export const FAMILIES = ["listApiKeyFamily", "listMemberFamily", "listSessionFamily"];
/** Of the organizations of an account: one, to a key. */
export const SHORT = ["listOrganizations", "listSessionOrganizations"];

/** Lists without an index of names. Quotas bound them. */
export const BY_NAME = [
  "listMembers",
  "listServiceAccounts",
  "listTrusts",
  "listProjects",
  "listProjectsOfOrganization",
  "listProjectMembers",
];

/** The creator's membership and account, or trust. */
const OF_CREATOR = 2;
export const LISTS_OF_DEPLOYMENTS = [
  "listDeployments",
  "listEnvironmentDeployments",
  "listStackDeployments",
];

/** The rows that an item consists of. */
export function rowsOf(operationId: string, item: Parsed): number {
  const listed = [item, item.deployment ?? {}].flatMap((each) => [
    ...(each.stack_ids ?? []),
    ...(each.environment_ids ?? []),
    ...(each.variable_names ?? []),
  ]);
  const joined = LISTS_OF_DEPLOYMENTS.includes(operationId) && item["created_by"] ? OF_CREATOR : 0;
  return 1 + listed.length + joined + (JOINED[operationId]?.(item) ?? 0);
}

/** Each filter with values that match some rows of `lengthenLists`, or with some of those that the document names. */
export function filtersOf(
  ids: Ids,
  { operationId, parameters = [] }: Operation,
): [string, string][] {
  const known: Record<string, string | undefined> = {
    actor: ids["member_id"],
    target: ids["stack_id"],
    project_id: ids["project_id"],
    environment_id: ids["environment_id"],
    from: "2020-01-01T00:00:00Z",
    to: "2100-01-01T00:00:00Z",
    name: "copy-7",
    days: "90",
  };
  return parameters.filter(isFilter).flatMap(({ name, schema }) => {
    const one = resolve(schema) as { enum?: string[]; items?: Record<string, unknown> };
    const several = one.items && (resolve(one.items) as { enum: string[] }).enum;
    const named = several ? [several.slice(0, 2).join(), several.slice(1).join()] : one.enum;
    const values = known[name] ? [known[name]] : named;
    if (!values) throw new Error(`${operationId} has a new filter ${name}`);
    return values.map((value): [string, string] => [name, value]);
  });
}

export const lists = operations.filter(isList).map((each) => [each.operationId, each] as const);
/** No index has these names: a page searches for them. */
const SEARCHING = ["actor_name", "target_name", "record_name"];
export const isFilter = ({ name, in: place }: { name: string; in: string }) =>
  place === "query" && !["after", "limit", "sort_by", ...SEARCHING].includes(name);
export const operationNamed = (id: string) => {
  const found = lists.find(([operationId]) => operationId === id);
  if (!found) throw new Error(`There is no list ${id}`);
  return found[1];
};
