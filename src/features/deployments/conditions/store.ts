import { type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import { orgRoleReaches } from "../../../lib/roles.ts";
import { rulesOf } from "../../projects/access/index.ts";

/** For the statements that select, or change, `deployments`. */
const RULES = rulesOf(sql`deployments.environment_id`);

/** Those of the organization or of the project that are not over when a deployment is created. */
function freezesOf(
  organizationId: SQL,
  projectId: SQL,
  environmentId: SQL,
  createdAt: SQL | number,
) {
  return sql`from freezes as freeze where freeze.organization_id = ${organizationId}
    and freeze.ends_at > ${createdAt} and (freeze.project_id is null or freeze.project_id = ${projectId})
    and (freeze.environment_ids is null or exists (select 1 from json_each(freeze.environment_ids) as item
      where item.value = ${environmentId}))`;
}

const FREEZES = freezesOf(
  sql`deployments.organization_id`,
  sql`deployments.project_id`,
  sql`deployments.environment_id`,
  sql`deployments.created_at`,
);

/** Whether nothing holds a new deployment, in a select of `projects` and `environments`. */
export function isUnconditional(now: number): SQL {
  const { organization, project, environment } = {
    organization: sql`environments.organization_id`,
    project: sql`projects.id`,
    environment: sql`environments.id`,
  };
  return sql`(${rulesOf(environment)} is null
    and not exists (select 1 ${freezesOf(organization, project, environment, now)}))`;
}

/** Whether rules or freezes apply to a deployment that has not started. */
const IS_CONDITIONAL = sql`(deployments.status = 'queued' and (deployments.kept_rules <> '[]'
  or ${RULES} is not null or exists (select 1 ${FREEZES})))`;

/** A JSON array. */
const ALL_RULES = sql`json_insert(deployments.kept_rules, '$[#]', json(${RULES}))`;

/**
 * `isApprover` as a condition: whether one of the rules asks for approvals that the actor may give.
 * @param projectRole Of the actor.
 */
export function mayApprove({ membershipId, role }: Actor, projectRole: SQL): SQL {
  const isAdmin = orgRoleReaches(role, "admin");
  const rule = sql`record.value -> '$.approvals'`;
  const wantedRole = sql`record.value ->> '$.approvals.approvers.role'`;
  return sql`exists (select 1 from json_each(${ALL_RULES}) as record where ${rule} is not null
    and (${rule} -> '$.approvers.membership_ids' is null or exists (select 1
      from json_each(${rule}, '$.approvers.membership_ids') as item where item.value = ${membershipId}))
    and (${isAdmin} or case ${projectRole} when 'owner' then 1
      when 'contributor' then ${wantedRole} is not 'owner' else ${wantedRole} is null end)
    and not (${rule} ->> '$.prevent_self_approval' and exists (select 1
      from json_each(deployments.creators) as item where item.value = ${membershipId})))`;
}

/** A deployment without a source of its own deploys what the environment runs by now. */
const SOURCE = sql`iif(deployments.keeps_source, (select place.source from environments as place
  where place.id = deployments.environment_id), deployments.source)`;

const GROUP_IDS = sql`(select json_group_array(running.id order by running.id)
  from deployments as running
  cross join environment_protections as other on other.environment_id = running.environment_id
  where running.project_id = deployments.project_id and running.status in ('in_progress', 'canceling')
    and running.environment_id <> deployments.environment_id and other.rules ->> 'group' in (select record.value ->> 'group' from json_each(${ALL_RULES}) as record))`;

/** Of each environment, the successes that are looked for the source. */
const SEARCHED_SUCCESSES = sql.raw("20");
/** Of the environments that all of its rules name, those of the newest rules first. One set of rules names fewer. */
const SEARCHED_PLACES = sql.raw("20");

// The places first, then the index of their successes alone: each deployment that waits reads them.
const SUCCESSES = sql`(select json_group_array(json_object('id', success.id, 'environmentId', success.environment_id,
    'finishedAt', success.finished_at, 'replacedAt', (select newer.started_at from deployments as newer
      where newer.environment_id = success.environment_id and newer.status = 'succeeded'
        and newer.created_at > success.created_at order by newer.created_at limit 1)) order by success.id)
  from (select item.value as place, ${SOURCE} as source from json_each(${ALL_RULES}) as record
    join json_each(record.value -> 'from' -> 'environment_ids') as item
    group by item.value order by max(record.key) desc limit ${SEARCHED_PLACES}) as selected
  cross join deployments as success on success.rowid in (select latest.rowid from deployments as latest
    where latest.environment_id = selected.place and latest.status = 'succeeded'
    order by latest.created_at desc limit ${SEARCHED_SUCCESSES})
  where success.source is selected.source and +success.organization_id = deployments.organization_id)`;

/** The names of the environments of `from`. */
const PLACES = sql`(select json_group_object(place.id, place.name order by place.id)
  from json_each(${ALL_RULES}) as record join json_each(record.value -> 'from' -> 'environment_ids') as item
  join environments as place on place.id = item.value
    and place.organization_id = deployments.organization_id)`;

/**
 * What the content results from, as JSON: the version of the configuration that the patch applies to, the source,
 * and the stacks. The name of a stack chooses its settings, and its component the variables.
 */
export const BASIS = sql`(select json_array(place.configuration_version,
    iif(deployments.keeps_source, place.source, deployments.source),
    (select json_group_array(json_array(part.stack_id, stacks.name, stacks.component_id) order by part.position)
      from deployment_stacks as part left join stacks on stacks.id = part.stack_id
      where part.deployment_id = deployments.id))
  from environments as place where place.id = deployments.environment_id)`;

const APPROVALS = sql`iif(not exists (select 1 from deployment_approvals as given
    where given.deployment_id = deployments.id), json('[]'), (select json_group_array(json_object('membershipId', approval.membership_id,
    'digest', approval.digest, 'isCurrent', approval.basis = selected.basis, 'orgRole', member.role,
    'projectRole', place.role) order by approval.membership_id)
  from (select ${BASIS} as basis limit 1) as selected
  join deployment_approvals as approval on approval.deployment_id = deployments.id
  join memberships as member on member.id = approval.membership_id
    and member.organization_id = approval.organization_id
    and member.status = 'active' and member.kind = 'person'
  left join project_members as place on place.project_id = deployments.project_id
    and place.membership_id = approval.membership_id
  where approval.decision = 'approve'))`;

/** Null: nobody has overridden anything of this content. */
const overridden = (
  part: "conditions" | "freeze_ids",
) => sql`iif(deployments.overridden is null, null,
  iif(deployments.overridden ->> 'basis' = ${BASIS}, deployments.overridden -> ${sql.raw(`'${part}'`)}, null))`;

/** What approvals depend on. */
const OF_APPROVALS = sql`'rules', ${ALL_RULES},
  'creators', json(deployments.creators), 'createdAt', deployments.created_at, 'approvals', ${APPROVALS},
  'exempt', deployments.exempt, 'overridden', ${overridden("conditions")}`;

/** JSON of the `Facts` of a deployment that needs approvals, as far as `findGivable` needs them. */
export const FACTS_OF_APPROVALS = sql<string>`json_object(${OF_APPROVALS})`;

/**
 * JSON of `Facts`, as one text: a statement that has this text as a condition changes something only if nothing
 * has changed of what was evaluated. Null: nothing applies.
 */
export const FACTS: SQL<string | null> =
  sql`case when ${IS_CONDITIONAL} then json_object(${OF_APPROVALS},
  'basis', ${BASIS},
  'freezes', (select json_group_array(json_object('id', freeze.id, 'name', freeze.name, 'reason', freeze.reason,
    'startsAt', freeze.starts_at, 'endsAt', freeze.ends_at, 'override', json(freeze.override)) order by freeze.id) ${FREEZES}),
  'overriddenFreezes', ${overridden("freeze_ids")},
  'groupIds', ${GROUP_IDS}, 'successes', ${SUCCESSES}, 'places', ${PLACES},
  'claims', json(deployments.claims), 'commit', (select json_object('sha', item.value ->> '$.commit.sha',
    'repoId', item.value ->> 'repo_id') from json_each(${SOURCE}) as item where item.key = 'git')) end`;

export function hasFacts(seen: string | null): SQL {
  return sql`${FACTS} is ${seen}`;
}
