import type { ServiceContext } from "../../context.ts";
import { newId } from "../../lib/ids.ts";
import { type AUDITED_ACTIONS, auditRecords } from "./table.ts";

export interface AuditedAct {
  action: (typeof AUDITED_ACTIONS)[number];
  projectId: string;
  recordId: string;
}

/** The record of what the actor does, for the batch that does it. */
export function insertAuditRecord({ db, actor, clock }: ServiceContext, act: AuditedAct) {
  const { organizationId, accountId, membershipId, keyId } = actor;
  return db.insert(auditRecords).values({
    id: newId(clock),
    organizationId,
    accountId,
    membershipId,
    keyId,
    ...act,
    createdAt: clock.now(),
  });
}
