import type { z } from "@hono/zod-openapi";
import { toTimestamp } from "../../../lib/clock.ts";
import { BadInput } from "../../../lib/errors.ts";
import { BEFORE_FROM } from "../../../lib/time-messages.ts";
import type { AuditEntryRow, AuditFilter } from "./list-store.ts";
import type { ExportQuery } from "./schemas.ts";
import { presentTargets } from "./targets.ts";

export function presentAuditEntry(row: AuditEntryRow) {
  const target = { type: row.targetType, id: row.targetId, name: row.targetName ?? undefined };
  const project = row.projectId === null ? null : { id: row.projectId, name: row.projectName };
  return {
    id: row.id,
    created_at: toTimestamp(row.createdAt),
    action: row.action,
    outcome: row.outcome,
    actor: presentActor(row),
    source: {
      type: row.actorType,
      id: row.credentialId ?? undefined,
      name: row.sourceName ?? undefined,
    },
    target,
    targets: presentTargets(target, row, project),
    project_id: row.projectId ?? undefined,
    client_address: row.clientAddress ?? undefined,
    user_agent: row.userAgent ?? undefined,
    request_id: row.requestId ?? undefined,
    changes: row.changes === null ? undefined : JSON.parse(row.changes),
  };
}

function presentActor(row: AuditEntryRow) {
  const { creatorKeyId, creatorMembershipId } = row;
  const isCreatorKnown = creatorKeyId !== null || creatorMembershipId !== null;
  return {
    type: row.actorType,
    name: row.actorName ?? undefined,
    credential_id: row.credentialId ?? undefined,
    membership_id: row.membershipId ?? undefined,
    account_id: row.accountId ?? undefined,
    pool_id: row.poolId ?? undefined,
    created_by: isCreatorKnown
      ? { key_id: creatorKeyId ?? undefined, membership_id: creatorMembershipId ?? undefined }
      : undefined,
  };
}

/** @throws BadInput if the range ends before it begins. */
export function toFilter(query: z.output<typeof ExportQuery>): AuditFilter {
  const { actor, action = [], target, project_id, actor_name, target_name, from, to } = query;
  const range = {
    from: from === undefined ? undefined : Date.parse(from),
    to: to === undefined ? undefined : Date.parse(to),
  };
  if (range.from !== undefined && range.to !== undefined && range.from > range.to) {
    throw new BadInput([{ path: "to", message: BEFORE_FROM }]);
  }
  return {
    ...{ actorId: actor, actions: action, targetId: target, projectId: project_id },
    ...{ actorName: actor_name, targetName: target_name, ...range },
  };
}
