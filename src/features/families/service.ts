import { requireOrgRole, type ServiceContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { NotFound } from "../../lib/errors.ts";
import { getKey } from "../api-keys/index.ts";
import { findFormerMember, findMember } from "../memberships/index.ts";
import { requireSession, type SessionId } from "../sessions/index.ts";
import type { FamilyItem, FamilyRoot } from "./store.ts";
import * as store from "./store.ts";

/** Also of a revoked key. */
export async function listFamilyOfKey(
  ctx: ServiceContext,
  root: FamilyRoot,
  page: PageRequest,
): Promise<Page<FamilyItem>> {
  await getKey(ctx, root.organizationId, root.id);
  return listFamily(ctx, root, page);
}

/** Also of a session that has ended. */
export async function listFamilyOfSession(
  ctx: ServiceContext,
  session: SessionId,
  page: PageRequest,
): Promise<Page<FamilyItem>> {
  requireOrgRole(ctx.actor, session.organizationId, "admin");
  await requireSession(ctx, session);
  return listFamily(ctx, session, page);
}

/** Also of a member who was removed. */
export async function listFamilyOfMember(
  ctx: ServiceContext,
  root: FamilyRoot,
  page: PageRequest,
): Promise<Page<FamilyItem>> {
  const { organizationId, id } = root;
  requireOrgRole(ctx.actor, organizationId, "admin");
  const { members, former } = await runBatch(ctx.db, {
    members: findMember(ctx.db, organizationId, id),
    former: findFormerMember(ctx.db, organizationId, id),
  });
  if (members.length + former.length === 0) throw new NotFound("membership");
  return listFamily(ctx, root, page);
}

async function listFamily(
  { db, clock }: ServiceContext,
  root: FamilyRoot,
  page: PageRequest,
): Promise<Page<FamilyItem>> {
  return toPage(page, await store.listFamily(db, root, page, clock.now()), (row) => row);
}
