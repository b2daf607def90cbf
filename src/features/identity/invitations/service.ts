import { lineageOf, requireOrgRole } from "../../../actor.ts";
import { issueCredential } from "../../../auth/credentials.ts";
import type { ServiceContext, SystemContext } from "../../../context.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { Conflict, NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import { write } from "../../../writes/write.ts";
import { type AuditedAct, requireFull } from "../../housekeeping/audit/index.ts";
import { MEMBER_EXISTS, requireRoleToManage } from "../memberships/index.ts";
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
  const changes = { after: { role: input.role } };
  return write(ctx, {
    lapsed: { invitations: store.deleteLapsed(ctx.db, organizationId, now) },
    growth: { organizationId, bounds: [store.openCountBound(organizationId, now)] },
    guarded: store.insertInvitation(ctx, row),
    value: row,
    secrets: { token, origin },
    acts: [{ action: "invitation.created", target, changes }],
    taken: TAKEN,
    otherwise: () => MEMBER_EXISTS,
  });
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
  await write(ctx, {
    guarded: store.deleteInvitation(ctx.db, organizationId, id, ctx.clock.now()),
    acts: [act],
    otherwise: () => new NotFound("invitation"),
  });
}

export async function sweepInvitations({ db, clock }: SystemContext): Promise<void> {
  await store.deleteExpired(db, clock.now());
}
