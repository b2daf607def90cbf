import { type SQL, sql } from "drizzle-orm";
import { LIMITS } from "../../../lib/limits.ts";
import { IS_CONFIRMED } from "../../housekeeping/outbox/integration-table.ts";

const MAX_ORGANIZATIONS = LIMITS.scannedOrganizations.value;
const MAX_INTEGRATIONS = LIMITS.scannedIntegrations.value;
/** Slack accepts one message a second for each channel. */
export const SLACK_INTERVAL_MS = 1_000;
/** Until an endpoint has responded, so that one that hangs takes few connections. */
const UNPROVEN_MAXIMUM = 2;

/** Where the next claim of a consumer begins, and what it leaves out. */
export interface Turn {
  now: number;
  /** The most deliveries of one claim. */
  maximum: number;
  /** The integrations of these deliveries are always among those that take a turn. */
  woken: readonly string[];
  /** The turns begin with the organization and the integration of this delivery. */
  startsWith: string | undefined;
  /** Integrations whose endpoints get no further requests at the moment. */
  busy: readonly string[];
  /** Integrations whose endpoints have responded. */
  proven: readonly string[];
}

const PENDING = sql`from deliveries where deliveries.status = 'pending'`;

const FIRST_ORGANIZATION = sql`(select min(organization_id) ${PENDING})`;
const organizationAfter = (id: SQL) =>
  sql`(select min(organization_id) ${PENDING} and deliveries.organization_id > ${id})`;
const firstIntegration = (organization: SQL) =>
  sql`(select min(integration_id) ${PENDING} and deliveries.organization_id = ${organization})`;
const integrationAfter = (organization: SQL, id: SQL) =>
  sql`(select min(integration_id) ${PENDING} and deliveries.organization_id = ${organization}
    and deliveries.integration_id > ${id})`;

/**
 * Selects the deliveries to send next: `id`, and `undeliverable` (why it fails instead, or null). Each
 * organization that waits gets as many in turn as its weight; within it, each integration gets one in
 * turn, the longest due first. A failing integration, and a Slack channel, gets one at a time.
 *
 * Each step of the recursions is one search in the index `deliveries_due`: the cost depends on the
 * number of integrations that wait, and not on that of their deliveries.
 */
export function selectTurns(turn: Turn): SQL {
  return sql`with recursive
    start(organization_id, integration_id) as materialized (${selectStart(turn)}),
    organization_turns(id, has_wrapped) as (${SELECT_ORGANIZATION_TURNS}),
    integration_turns(organization_id, id, start, has_wrapped) as (${SELECT_INTEGRATION_TURNS}),
    candidates(organization_id, id) as (${selectCandidates(turn)}),
    ready as materialized (${selectReady(turn)}),
    share as materialized (${selectShare(turn)})
    ${selectByRounds(turn)}`;
}

/** Prefixes that sort directly before the IDs that the turns begin with; empty without a delivery. */
function selectStart({ startsWith }: Turn): SQL {
  const before = (column: "organization_id" | "integration_id") =>
    sql`coalesce((select substr(${sql.raw(column)}, 1, length(${sql.raw(column)}) - 1)
      from deliveries where id = ${startsWith ?? null}), '')`;
  return sql`select ${before("organization_id")}, ${before("integration_id")}`;
}

const START = sql`(select organization_id from start)`;
const ORGANIZATION = sql`organization_turns.id`;
// A row after the wrap whose ID is beyond the start was there before.
const IS_NEW_ORGANIZATION = sql`organization_turns.id is not null
  and not (organization_turns.has_wrapped and organization_turns.id > ${START})`;

/** The organizations that wait, from the start to the end, and then from the first. */
const SELECT_ORGANIZATION_TURNS = sql`
  select coalesce(${organizationAfter(START)}, ${FIRST_ORGANIZATION}),
    ${organizationAfter(START)} is null
  union all
  select coalesce(${organizationAfter(ORGANIZATION)},
      iif(organization_turns.has_wrapped, null, ${FIRST_ORGANIZATION})),
    organization_turns.has_wrapped or ${organizationAfter(ORGANIZATION)} is null
  from organization_turns where ${IS_NEW_ORGANIZATION}
  limit ${MAX_ORGANIZATIONS}`;

const START_IN_ORGANIZATION = sql`iif(
  substr(organization_turns.id, 1, length(organization_turns.id) - 1) = ${START},
  (select integration_id from start), '')`;
const OWN_ORGANIZATION = sql`integration_turns.organization_id`;
const INTEGRATION = sql`integration_turns.id`;
const IS_NEW_INTEGRATION = sql`integration_turns.id is not null
  and not (integration_turns.has_wrapped and integration_turns.id > integration_turns.start)`;

/** The integrations that wait, of each of these organizations, in the same order. */
const SELECT_INTEGRATION_TURNS = sql`
  select organization_turns.id,
    coalesce(${integrationAfter(ORGANIZATION, START_IN_ORGANIZATION)}, ${firstIntegration(ORGANIZATION)}),
    ${START_IN_ORGANIZATION}, ${integrationAfter(ORGANIZATION, START_IN_ORGANIZATION)} is null
  from organization_turns where ${IS_NEW_ORGANIZATION}
  union all
  select integration_turns.organization_id,
    coalesce(${integrationAfter(OWN_ORGANIZATION, INTEGRATION)},
      iif(integration_turns.has_wrapped, null, ${firstIntegration(OWN_ORGANIZATION)})),
    integration_turns.start,
    integration_turns.has_wrapped or ${integrationAfter(OWN_ORGANIZATION, INTEGRATION)} is null
  from integration_turns where ${IS_NEW_INTEGRATION}
  limit ${MAX_INTEGRATIONS}`;

function selectCandidates({ woken }: Turn): SQL {
  return sql`select organization_id, integration_id from deliveries
    where id in ${eachOf(woken)}
    union
    select integration_turns.organization_id, integration_turns.id from integration_turns
    where ${IS_NEW_INTEGRATION}`;
}

/**
 * The candidates of which something is due that may be sent, or fails instead. The others take no share, and those of
 * a deleted organization, which are left to the purge, get nothing.
 */
function selectReady(turn: Turn): SQL {
  return sql`select integrations.id, integrations.organization_id,
      max(1, organizations.delivery_weight) as weight,
      case when integrations.disabled_at is not null then 'integration_disabled'
        when not ${IS_CONFIRMED} then 'integration_unconfirmed' end as undeliverable,
      ${maximumAtOnce(turn)} as maximum
    from candidates
    join integrations on integrations.id = candidates.id
      and integrations.organization_id = candidates.organization_id
    join organizations on organizations.id = integrations.organization_id
      and organizations.name <> char(127) || organizations.id
    where exists (select 1 from deliveries as due where due.status = 'pending'
        and due.organization_id = integrations.organization_id
        and due.integration_id = integrations.id and due.due_at <= ${turn.now})
      and (integrations.disabled_at is not null or ${acceptsRequests(turn)})`;
}

/** Deliveries of one integration. Those that fail need no request. */
function maximumAtOnce({ maximum, proven }: Turn): SQL {
  return sql`case when integrations.disabled_at is not null or not ${IS_CONFIRMED} then ${maximum}
    when integrations.type = 'slack' or integrations.failing_since is not null then 1
    when integrations.id in ${eachOf(proven)} then ${maximum} else ${UNPROVEN_MAXIMUM} end`;
}

function acceptsRequests({ now, busy }: Turn): SQL {
  return sql`integrations.id not in ${eachOf(busy)}
    and (integrations.paused_until is null or integrations.paused_until <= ${now})
    and (integrations.type <> 'slack' or integrations.last_sent_at is null
      or integrations.last_sent_at <= ${now - SLACK_INTERVAL_MS})`;
}

/**
 * The most deliveries of one integration. Divided by organizations, not by integrations: an organization with many
 * gets no more than one with few.
 */
function selectShare({ maximum }: Turn): SQL {
  return sql`select max(1, (cast(${maximum} as integer) * max(weight) + sum(weight) - 1) / sum(weight))
      as deliveries
    from (select distinct organization_id, weight from ready)`;
}

/** In each round, an organization gets as many as its weight. */
function selectByRounds({ now, maximum }: Turn): SQL {
  return sql`select id, undeliverable from (
      select id, undeliverable, due_at,
        (row_number() over (partition by organization_id order by position, due_at, id) - 1) / weight
          as round
      from (${selectPositions(now)}) where position <= maximum
    ) order by round, due_at, id limit ${maximum}`;
}

/** The deliveries of each integration that is ready, the longest due first, up to its share. */
function selectPositions(now: number): SQL {
  return sql`select deliveries.id, deliveries.due_at, ready.organization_id, ready.weight,
      ready.undeliverable, ready.maximum, row_number() over
        (partition by ready.id order by deliveries.due_at, deliveries.id) as position
    from ready cross join share cross join deliveries on deliveries.rowid in (
      select due.rowid from deliveries as due
      where due.status = 'pending' and due.organization_id = ready.organization_id
        and due.integration_id = ready.id and due.due_at <= ${now}
      order by due.due_at limit (select deliveries from share))`;
}

const eachOf = (ids: readonly string[]) =>
  sql`(select value from json_each(${JSON.stringify(ids)}))`;
