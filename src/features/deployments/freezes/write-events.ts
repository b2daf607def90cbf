import { sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { EventType } from "../../housekeeping/outbox/events.ts";
import { writeOutbox } from "../../housekeeping/outbox/index.ts";
import type { FreezeRow } from "./store.ts";

/** One for each of its projects, with the environments of that. Precedes the change of the freeze in a batch. */
export function writeFreezeEvents(
  ctx: ServiceContext,
  type: EventType & `freezes.${string}`,
  freeze: FreezeRow,
) {
  const { id, organizationId, projectId, environmentIds, name, reason } = freeze;
  const data = JSON.stringify({
    freeze_id: id,
    name,
    reason,
    starts_at: toTimestamp(freeze.startsAt),
    ends_at: toTimestamp(freeze.endsAt),
    membership_id: ctx.actor.membershipId,
  });
  const ids = environmentIds && JSON.stringify(environmentIds);
  const listed = sql`environments where environments.project_id = projects.id
    and environments.id in (select item.value from json_each(${ids}) as item)`;
  return writeOutbox(
    ctx,
    sql`select projects.id as key, projects.id as project_id, ${type} as type,
        json_patch(${data}, json_object('project', json_object('id', projects.id, 'name', projects.name),
          'environment_ids', (select json(nullif(json_group_array(environments.id), '[]')) from ${listed}))) as data
      from projects where projects.organization_id = ${organizationId}
        and ${projectId === null ? sql`true` : sql`projects.id = ${projectId}`}
        and ${ids === null ? sql`true` : sql`exists (select 1 from ${listed})`}
        and ${type === "freezes.deleted" ? sql`exists (select 1 from freezes where freezes.id = ${id})` : sql`true`}`,
  );
}
