import { type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import { orgRoleReaches } from "../../../lib/roles.ts";
import type { ApproverVerifier } from "../../../lib/settings.ts";
import { isVerifiedAgainst } from "../../identity/credentials/index.ts";
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
export function mayApprove(
  { membershipId, role }: Actor,
  projectRole: SQL,
  verifier: ApproverVerifier,
): SQL {
  const isAdmin = orgRoleReaches(role, "admin");
  const rule = sql`record.value -> '$.approvals'`;
  const wantedRole = sql`record.value ->> '$.approvals.approvers.role'`;
  const isKnown = verifier === "admins" ? sql`true` : isVerified(membershipId);
  return sql`${isKnown} and exists (select 1 from json_each(${ALL_RULES}) as record where ${rule} is not null
    and (${rule} -> '$.approvers.membership_ids' is null or exists (select 1
      from json_each(${rule}, '$.approvers.membership_ids') as item where item.value = ${membershipId}))
    and (${isAdmin} or case ${projectRole} when 'owner' then 1
      when 'contributor' then ${wantedRole} is not 'owner' else ${wantedRole} is null end)
    and not (${rule} ->> '$.prevent_self_approval' and exists (select 1
      from json_each(deployments.creators) as item where item.value = ${membershipId})))`;
}

/** See `Approver`. */
export function isVerified(membershipId: SQL | string): SQL {
  return isVerifiedAgainst(membershipId, sql`deployments.creators`);
}

/** A deployment without a source of its own deploys what the environment runs by now. */
const SOURCE = sql`iif(deployments.keeps_source, (select place.source from environments as place
  where place.id = deployments.environment_id), deployments.source)`;

const RUNNING_IN_GROUP = sql`(select json_group_array(json_object('id', running.id,
    'environmentId', running.environment_id) order by running.id)
  from deployments as running
  cross join environment_protections as other on other.environment_id = running.environment_id
  where running.project_id = deployments.project_id and running.status in ('in_progress', 'canceling')
    and running.environment_id <> deployments.environment_id and other.rules ->> 'group' in (select record.value ->> 'group' from json_each(${ALL_RULES}) as record))`;

/** The stacks of a deployment, as `id` and `position`. */
const OWN_STACKS = sql`(select own.stack_id as id, own.position from deployment_stacks as own
  where own.deployment_id = deployments.id)`;

/** The runner gets these fields of a connection. */
const CONNECTION = sql`(select json_array(target.provider, target.account_id, target.region, target.role_arn,
    target.external_id, target.settings)
  from project_connections as target where target.project_id = deployments.project_id)`;

/** JSON: the names of the stacks that exist. */
const namesOf = (stacks: SQL) => sql`(select json_group_array(stacks.name order by part.position)
  from ${stacks} as part join stacks on stacks.id = part.id)`;

/**
 * A JSON array: the names of the stacks that exist, their components, and the connection. One pass over the stacks.
 * @param first What precedes them.
 */
const partsOf = (stacks: SQL, first = sql``) => sql`(select json_array(${first}
    json_group_array(stacks.name order by part.position),
    json_group_array(json_array(components.id, components.name) order by part.position), json(${CONNECTION}))
  from ${stacks} as part join stacks on stacks.id = part.id
  left join components on components.id = stacks.component_id)`;

/** What a start keeps of the content beside the digest of its configuration and the source. */
export const START_BASIS = partsOf(OWN_STACKS);

/**
 * The same for a start that has kept nothing, as far as nothing has changed since. An empty list: it is unknown what
 * the stacks were.
 */
export const PAST_BASIS = sql`iif(deployments.stack_count = (select count(*) from ${OWN_STACKS} as part
      join stacks on stacks.id = part.id and stacks.updated_at < deployments.started_at
      left join components on components.id = stacks.component_id
      where coalesce(components.updated_at, 0) < deployments.started_at),
    iif(coalesce((select target.updated_at < deployments.started_at from project_connections as target
        where target.project_id = deployments.project_id),
      (select place.disconnected_at is null from projects as place where place.id = deployments.project_id)),
      ${START_BASIS}, json_set(${START_BASIS}, '$[2]', 'unknown')), '[]')`;

/** How many successes of each environment are searched for the source: as many as `environment_successes` keeps. */
export const SEARCHED_SUCCESSES = sql.raw("20");
/** How many of the environments that all of its rules name, the newest rules' first. One set of rules names fewer. */
const SEARCHED_PLACES = sql.raw("20");

/** The environments that the rules name and that exist. */
const FROM_PLACES = sql`(select place.id from json_each(${ALL_RULES}) as record
  join json_each(record.value -> 'from' -> 'environment_ids') as item
  join environments as place on place.id = item.value and place.organization_id = deployments.organization_id
  group by place.id order by max(record.key) desc limit ${SEARCHED_PLACES})`;

/** `covers` has the positions of its stacks that a success had by name. */
const successesOf = (
  stacks: SQL,
) => sql`(select json_group_array(json_object('id', success.deployment_id,
    'environmentId', success.environment_id, 'finishedAt', success.finished_at,
    'replacedAt', (select newer.started_at from environment_successes as newer
      where newer.environment_id = success.environment_id
        and newer.created_at > success.created_at order by newer.created_at limit 1),
    'covers', case when success.start_basis -> '$[0]' = selected.names then 'all'
      else (select json_group_array(item.key) from json_each(selected.names) as item
        where item.value in (select name.value from json_each(success.start_basis, '$[0]') as name)) end,
    'configuration', success.configuration_digest, 'compared', (select item.digest from configuration_digests as item
      where item.deployment_id = success.deployment_id
        and item.exceptions_digest = deployments.resulting ->> 'exceptions')) order by success.deployment_id)
  from (select ${SOURCE} as source, ${namesOf(stacks)} as names) as selected
  cross join ${FROM_PLACES} as named
  cross join environment_successes as success on success.environment_id = named.id
  where success.source is selected.source and success.organization_id = deployments.organization_id)`;

/** The environments of which successes from before there were digests are not copied yet. */
const UNLISTED = sql`(select json_group_array(named.id) from ${FROM_PLACES} as named
  where (select count(*) from environment_successes as success where success.environment_id = named.id)
    < (select count(*) from (select 1 from deployments as success where success.environment_id = named.id
      and success.status = 'succeeded' limit ${SEARCHED_SUCCESSES})))`;

/** The names of the environments of `from`. */
const PLACES = sql`(select json_group_object(place.id, place.name order by place.id)
  from json_each(${ALL_RULES}) as record join json_each(record.value -> 'from' -> 'environment_ids') as item
  join environments as place on place.id = item.value
    and place.organization_id = deployments.organization_id)`;

/**
 * What the content results from, as JSON: the version of the configuration that the patch applies to, the source, the
 * stacks and the connection. The name of a stack chooses its settings, and its component the variables.
 */
const basisOf = (stacks: SQL) =>
  partsOf(
    stacks,
    sql`(select place.configuration_version from environments as place where place.id = deployments.environment_id), ${SOURCE},`,
  );

export const BASIS = basisOf(OWN_STACKS);

/** The digests of the configuration that it results in, as far as they are stored for the present one. */
const OWN = sql`(select json_object(
    'digest', coalesce(iif(deployments.is_absolute or deployments.configuration_version = place.configuration_version,
      deployments.configuration_digest, null), stored.value ->> 'digest'),
    'exceptions', stored.value ->> 'exceptions', 'compared', stored.value ->> 'compared')
  from (select place.configuration_version, iif(deployments.is_absolute
      or deployments.resulting ->> 'version' = place.configuration_version, deployments.resulting, null) as value
    from environments as place where place.id = deployments.environment_id) as stored
  join environments as place on place.id = deployments.environment_id)`;

/** What is redeployed, and whether it had the same source, stacks and connection. */
const repeatedOf = (stacks: SQL) => sql`iif(deployments.exempt is null, null,
  (select json_object('id', success.id, 'configuration', success.configuration_digest,
      'isKnown', success.start_basis is not null,
      'isSame', success.source is ${SOURCE} and success.start_basis is ${partsOf(stacks)})
    from deployments as success where success.id = deployments.copied_id))`;

/** Where the basis of an approval differs, in words. */
const CHANGED = sql`(select json_group_array(part.value) from json_each('["the source","the stacks","the stacks","the connection"]') as part
  where approval.basis -> ('$[' || (part.key + 1) || ']') is not selected.basis -> ('$[' || (part.key + 1) || ']'))`;

const APPROVALS = sql`iif(not exists (select 1 from deployment_approvals as given
    where given.deployment_id = deployments.id), json('[]'), (select json_group_array(json_object('membershipId', approval.membership_id,
    'configuration', approval.configuration_digest, 'isCurrent', approval.basis = selected.basis, 'changed', json(${CHANGED}),
    'orgRole', member.role, 'projectRole', place.role, 'isVerified', ${isVerified(sql`approval.membership_id`)}) order by approval.membership_id)
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
const ofApprovals = (stacks: SQL) => sql`'rules', ${ALL_RULES},
  'creators', json(deployments.creators), 'createdAt', deployments.created_at, 'approvals', ${APPROVALS},
  'exempt', deployments.exempt, 'repeated', json(${repeatedOf(stacks)}), 'own', ${OWN},
  'overridden', ${overridden("conditions")}`;

/** JSON of the `Facts` of a deployment that needs approvals, as far as `findGivable` needs them. */
export const FACTS_OF_APPROVALS = sql<string>`json_object(${ofApprovals(OWN_STACKS)})`;

/**
 * JSON of `Facts`, as one text: a statement that has this text as a condition changes something only if nothing
 * has changed of what was evaluated. Null: nothing applies.
 * @param stacks Those that a deployment would have that does not exist yet.
 */
export function selectFacts(stacks: SQL): SQL<string | null> {
  return sql`case when ${IS_CONDITIONAL} then json_object(${ofApprovals(stacks)},
  'basis', ${basisOf(stacks)},
  'freezes', (select json_group_array(json_object('id', freeze.id, 'projectId', freeze.project_id,
    'name', freeze.name, 'reason', freeze.reason,
    'startsAt', freeze.starts_at, 'endsAt', freeze.ends_at, 'override', json(freeze.override)) order by freeze.id) ${FREEZES}),
  'overriddenFreezes', ${overridden("freeze_ids")},
  'runningInGroup', ${RUNNING_IN_GROUP}, 'stackNames', json(${namesOf(stacks)}), 'hasSource', ${SOURCE} is not null,
  'successes', ${successesOf(stacks)}, 'unlisted', ${UNLISTED}, 'places', ${PLACES},
  'source', deployments.claims -> '$.source', 'commit', (select json_object('sha', item.value ->> '$.commit.sha',
    'repoId', item.value ->> 'repo_id') from json_each(${SOURCE}) as item where item.key = 'git')) end`;
}

export const FACTS = selectFacts(OWN_STACKS);

export function hasFacts(seen: string | null): SQL {
  return sql`${FACTS} is ${seen}`;
}
