import { requireOrgRole, requireOwnOrganization } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { NotFound } from "../../../lib/errors.ts";
import { authorizeKey, findKeyOrTombstone, type KeyOrTombstone } from "../api-keys/index.ts";
import { findFormerMember, findMember } from "../memberships/index.ts";
import { findSessions, type SessionId } from "../sessions/index.ts";
import type { FamilyItem, FamilyRoot } from "./store.ts";
import * as store from "./store.ts";

/** Also of a revoked key. */
export async function listFamilyOfKey(
  { actor, db, clock }: ServiceContext,
  root: FamilyRoot,
  page: PageRequest,
): Promise<Page<FamilyItem>> {
  const { organizationId, id } = root;
  requireOwnOrganization(actor, organizationId);
  const { key, rows } = await batch(db, {
    key: findKeyOrTombstone(db, organizationId, id),
    rows: store.listFamily(db, root, page, clock.now()),
  });
  authorizeKey<KeyOrTombstone>(actor, key.active[0] ?? key.revoked[0]);
  return toPage(page, rows, (row) => row);
}

/** Also of a session that has ended. */
export async function listFamilyOfSession(
  { actor, db, clock }: ServiceContext,
  session: SessionId,
  page: PageRequest,
): Promise<Page<FamilyItem>> {
  requireOrgRole(actor, session.organizationId, "admin");
  const { found, rows } = await batch(db, {
    found: findSessions(db, session),
    rows: store.listFamily(db, session, page, clock.now()),
  });
  if (found.active.length + found.ended.length === 0) throw new NotFound("session");
  return toPage(page, rows, (row) => row);
}

/** Also of a member who was removed. */
export async function listFamilyOfMember(
  { actor, db, clock }: ServiceContext,
  root: FamilyRoot,
  page: PageRequest,
): Promise<Page<FamilyItem>> {
  const { organizationId, id } = root;
  requireOrgRole(actor, organizationId, "admin");
  const { members, former, rows } = await batch(db, {
    members: findMember(db, organizationId, id),
    former: findFormerMember(db, organizationId, id),
    rows: store.listFamily(db, root, page, clock.now()),
  });
  if (members.length + former.length === 0) throw new NotFound("membership");
  return toPage(page, rows, (row) => row);
}
