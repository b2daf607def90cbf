import { type SQL, sql } from "drizzle-orm";
import { LIMITS } from "../../../lib/limits.ts";
import { IS_CONFIRMED } from "../integrations/table.ts";
import { UNCLAIMABLE_BY_EARLIER_RELEASES } from "../outbox/model.ts";

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

const firstOrganization = sql`(select min(organization_id) ${PENDING})`;
const organizationAfter = (id: SQL) =>
  sql`(select min(organization_id) ${PENDING} and deliveries.organization_id > ${id})`;
const firstIntegration = (organization: SQL) =>
  sql`(select min(integration_id) ${PENDING} and deliveries.organization_id = ${organization})`;
const integrationAfter = (organization: SQL, id: SQL) =>
  sql`(select min(integration_id) ${PENDING} and deliveries.organization_id = ${organization}
    and deliveries.integration_id > ${id})`;

/**
 * Selects the deliveries to send next: `id`, and `undeliverable` (why it fails instead, or null). Each organization that waits gets as many in turn as
 * its weight; within it, each integration gets one in turn, the longest due first. A failing
 * integration, and a Slack channel, gets one at a time.
 *
 * Each step of the recursions is one search in the index `deliveries_due`, so that the cost depends
 * on the number of integrations that wait, and not on that of their deliveries.
 */
export function selectTurns(turn: Turn): SQL {
  const { now, maximum } = turn;
  const before = (column: "organization_id" | "integration_id") =>
    sql`coalesce((select substr(${sql.raw(column)}, 1, length(${sql.raw(column)}) - 1)
      from deliveries where id = ${turn.startsWith ?? null}), '')`;
  const cursor = sql`(select organization_id from start)`;
  const starts = sql`iif(substr(organization_turns.id, 1, length(organization_turns.id) - 1) = ${cursor},
    (select integration_id from start), '')`;
  const [organization, ownOrganization] = [
    sql`organization_turns.id`,
    sql`integration_turns.organization_id`,
  ];
  const integration = sql`integration_turns.id`;
  // A row after the wrap whose ID is beyond the start was there before.
  const isNewOrganization = sql`organization_turns.id is not null
    and not (organization_turns.has_wrapped and organization_turns.id > ${cursor})`;
  const isNewIntegration = sql`integration_turns.id is not null
    and not (integration_turns.has_wrapped and integration_turns.id > integration_turns.start)`;
  return sql`with recursive
    start(organization_id, integration_id) as materialized (
      select ${before("organization_id")}, ${before("integration_id")}
    ),
    organization_turns(id, has_wrapped) as (
      select coalesce(${organizationAfter(cursor)}, ${firstOrganization}),
        ${organizationAfter(cursor)} is null
      union all
      select coalesce(${organizationAfter(organization)},
          iif(organization_turns.has_wrapped, null, ${firstOrganization})),
        organization_turns.has_wrapped or ${organizationAfter(organization)} is null
      from organization_turns where ${isNewOrganization}
      limit ${MAX_ORGANIZATIONS}
    ),
    integration_turns(organization_id, id, start, has_wrapped) as (
      select organization_turns.id,
        coalesce(${integrationAfter(organization, starts)}, ${firstIntegration(organization)}),
        ${starts}, ${integrationAfter(organization, starts)} is null
      from organization_turns where ${isNewOrganization}
      union all
      select integration_turns.organization_id,
        coalesce(${integrationAfter(ownOrganization, integration)},
          iif(integration_turns.has_wrapped, null, ${firstIntegration(ownOrganization)})),
        integration_turns.start,
        integration_turns.has_wrapped or ${integrationAfter(ownOrganization, integration)} is null
      from integration_turns where ${isNewIntegration}
      limit ${MAX_INTEGRATIONS}
    ),
    candidates(organization_id, id) as (
      select organization_id, integration_id from deliveries
      where id in (select value from json_each(${JSON.stringify(turn.woken)}))
      union
      select integration_turns.organization_id, integration_turns.id from integration_turns
      where ${isNewIntegration}
    ),
    ready as materialized (
      select integrations.id, integrations.organization_id, max(1, organizations.delivery_weight) as weight,
        case when integrations.disabled_at is not null then 'integration_disabled'
          when not ${IS_CONFIRMED} then 'integration_unconfirmed' end as undeliverable,
        case when integrations.disabled_at is not null or not ${IS_CONFIRMED} then ${maximum}
          when integrations.type = 'slack' or integrations.failing_since is not null then 1
          when integrations.id in (select value from json_each(${JSON.stringify(turn.proven)}))
            then ${maximum} else ${UNPROVEN_MAXIMUM} end as maximum
      from candidates
      join integrations on integrations.id = candidates.id
        and integrations.organization_id = candidates.organization_id
      join organizations on organizations.id = integrations.organization_id
      -- Those of which nothing is due take no share.
      where exists (select 1 from deliveries as due where due.status = 'pending'
          and due.organization_id = integrations.organization_id
          and due.integration_id = integrations.id and due.due_at <= ${now})
        and (integrations.disabled_at is not null
          or integrations.id not in (select value from json_each(${JSON.stringify(turn.busy)}))
            and (integrations.paused_until is null or integrations.paused_until <= ${now})
            and (integrations.type <> 'slack' or integrations.last_sent_at is null
              or integrations.last_sent_at <= ${now - SLACK_INTERVAL_MS}))
    ),
    share as materialized (
      -- Of organizations, not of integrations: one with many gets no more than one with few.
      select max(1, (cast(${maximum} as integer) * max(weight) + sum(weight) - 1) / sum(weight))
        as deliveries
      from (select distinct organization_id, weight from ready)
    )
    select id, undeliverable from (
      select id, undeliverable, due_at,
        (row_number() over (partition by organization_id order by position, due_at, id) - 1) / weight
          as round
      from (
        select deliveries.id, deliveries.due_at, ready.organization_id, ready.weight,
          ready.undeliverable, ready.maximum, row_number() over
            (partition by ready.id order by deliveries.due_at, deliveries.id) as position
        from ready cross join share cross join deliveries on deliveries.rowid in (
          select due.rowid from deliveries as due
          where due.status = 'pending' and due.organization_id = ready.organization_id
            and due.integration_id = ready.id and due.due_at <= ${now}
            and (due.claimed_until is null or due.claimed_until <= ${now}
              or due.claimed_until = ${UNCLAIMABLE_BY_EARLIER_RELEASES})
          order by due.due_at limit (select deliveries from share))
      )
      where position <= maximum
    ) order by round, due_at, id limit ${maximum}`;
}
