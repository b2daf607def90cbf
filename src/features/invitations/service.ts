import { issueCredential } from "../../auth/credentials.ts";
import {
  lineageOf,
  requireExpectedVersion,
  requireOrgRole,
  type ServiceContext,
  type SystemContext,
} from "../../context.ts";
import { batch } from "../../db/batch.ts";
import { refuseTaken } from "../../db/constraint-errors.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import type { OrgRole } from "../../lib/roles.ts";
import { type AuditedAct, recordActs, requireFull } from "../audit/index.ts";
import { recordWithSecrets } from "../idempotency/index.ts";
import { MEMBER_EXISTS, requireRoleToManage } from "../memberships/index.ts";
import { limitGrowth } from "../usage/index.ts";
import { INVITATION_TTL_MS, INVITATION_VERSION } from "./model.ts";
import { presentInvitation } from "./presenters.ts";
import type { CreatedInvitation, InvitationRow } from "./store.ts";
import * as store from "./store.ts";

export const OPEN_INVITATION_EXISTS =
  "This e-mail address has an open invitation. Revoke it first, to create another link.";

export interface NewInvitation {
  /** In lower case. */
  email: string;
  name: string | null;
  role: OrgRole;
}

const TAKEN = {
  "invitations.organization_id, invitations.email": new Conflict(OPEN_INVITATION_EXISTS),
};

/** The same, whether or not an account with this address exists elsewhere. */
export async function invite(
  ctx: ServiceContext,
  organizationId: string,
  input: NewInvitation,
  origin: string,
): Promise<CreatedInvitation> {
  const id = newId(ctx.clock);
  const target = { type: "invitation", id } as const;
  await requireRoleToManage(ctx, organizationId, target, [input.role]);
  await requireFull(ctx, target);
  const { key: token, secretHash } = await issueCredential("lsi", id);
  const now = ctx.clock.now();
  const { issuedByKeyId: _, ...lineage } = lineageOf(ctx.actor);
  const row = {
    ...{ id, organizationId, secretHash, ...input },
    ...lineage,
    expiresAt: now + INVITATION_TTL_MS,
    createdAt: now,
  };
  const bounds = [store.openCountBound(organizationId, now)];
  const limits = limitGrowth(ctx, { organizationId, bounds });
  const changes = { after: { role: input.role } };
  const statements = {
    lapsed: store.deleteLapsed(ctx.db, organizationId, now),
    limits: limits.statement,
    created: store.insertInvitation(ctx, row),
    recorded: await recordWithSecrets(ctx, row, { token, origin }),
    audit: recordActs(ctx, organizationId, [{ action: "invitation.created", target, changes }]),
  };
  const { created } = await refuseTaken(limits.enforce(batch(ctx.db, statements)), TAKEN);
  if (created.length === 0) throw MEMBER_EXISTS;
  return { row, token, origin };
}

export async function listInvitations(
  ctx: ServiceContext,
  organizationId: string,
  page: PageRequest,
): Promise<Page<InvitationRow>> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const now = ctx.clock.now();
  return toPage(page, await store.listInvitations(ctx.db, organizationId, page, now), (row) => row);
}

export async function getInvitation(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<InvitationRow> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const now = ctx.clock.now();
  const [row] = await store.findInvitation(ctx.db, organizationId, id, now);
  if (!row) throw new NotFound("invitation");
  return row;
}

export async function revokeInvitation(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
): Promise<void> {
  const invitation = await getInvitation(ctx, organizationId, id);
  const { role } = invitation;
  const target = { type: "invitation", id } as const;
  await requireRoleToManage(ctx, organizationId, target, [role]);
  await requireExpectedVersion(ctx, INVITATION_VERSION, () => presentInvitation(invitation));
  const act: AuditedAct = {
    action: "invitation.revoked",
    target,
    changes: { before: { role } },
  };
  const { deleted } = await batch(ctx.db, {
    deleted: store.deleteInvitation(ctx.db, organizationId, id, ctx.clock.now()),
    audit: recordActs(ctx, organizationId, [act]),
  });
  if (deleted.length === 0) throw new NotFound("invitation");
}

export async function sweepInvitations({ db, clock }: SystemContext): Promise<void> {
  await store.deleteExpired(db, clock.now());
}
