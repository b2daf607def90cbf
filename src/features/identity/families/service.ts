import { requireOrgRole, requireOwnOrganization } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch, type Results, type Statements } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { NotFound } from "../../../lib/errors.ts";
import { authorizeKey, findKeyOrTombstone, type KeyOrTombstone } from "../api-keys/index.ts";
import { walkFamily } from "../credentials/index.ts";
import { findFormerMember, findMember } from "../memberships/index.ts";
import { findSessions, type SessionId } from "../sessions/index.ts";
import type { FamilyItem, FoundItem } from "./model.ts";
import type { FamilyRoot } from "./store.ts";
import * as store from "./store.ts";

/** Also of a revoked key. */
export async function listFamilyOfKey(
  ctx: ServiceContext,
  root: FamilyRoot,
  page: PageRequest,
): Promise<Page<FamilyItem>> {
  requireOwnOrganization(ctx.actor, root.organizationId);
  const key = findKeyOrTombstone(ctx.db, root.organizationId, root.id);
  return listFamily(ctx, root, page, key, ({ active, revoked }) => {
    authorizeKey<KeyOrTombstone>(ctx.actor, active[0] ?? revoked[0]);
  });
}

/** Also of a session that has ended. */
export async function listFamilyOfSession(
  ctx: ServiceContext,
  session: SessionId,
  page: PageRequest,
): Promise<Page<FamilyItem>> {
  requireOrgRole(ctx.actor, session.organizationId, "admin");
  return listFamily(ctx, session, page, findSessions(ctx.db, session), ({ active, ended }) => {
    if (active.length + ended.length === 0) throw new NotFound("session");
  });
}

/** Also of a member who was removed. */
export async function listFamilyOfMember(
  ctx: ServiceContext,
  root: FamilyRoot,
  page: PageRequest,
): Promise<Page<FamilyItem>> {
  const { organizationId, id } = root;
  requireOrgRole(ctx.actor, organizationId, "admin");
  const statements = {
    members: findMember(ctx.db, organizationId, id),
    former: findFormerMember(ctx.db, organizationId, id),
  };
  return listFamily(ctx, root, page, statements, ({ members, former }) => {
    if (members.length + former.length === 0) throw new NotFound("membership");
  });
}

/** Reads a small family together with its root, and a large one in a walk. */
async function listFamily<Root extends Statements>(
  { db, clock }: ServiceContext,
  root: FamilyRoot,
  page: PageRequest,
  rootStatements: Root,
  requireRoot: (found: Results<Root>) => void,
): Promise<Page<FamilyItem>> {
  const now = clock.now();
  const { of, found, whole } = await batch(db, {
    of: rootStatements as Statements,
    ...store.listFamily(db, root, page, now),
  });
  requireRoot(of as Results<Root>);
  const { walk, select } = store.itemsWalk(db, root, page, now);
  const parts = whole[0]?.value ? [found] : walkFamily(db, walk, select);
  return toPage(page, await mergeItems(parts, page.direction), (row) => row);
}

/** Parts of a walk may have the same item, and the same credentials. */
async function mergeItems(
  parts: AsyncIterable<readonly FoundItem[]> | readonly (readonly FoundItem[])[],
  direction: "asc" | "desc",
): Promise<FamilyItem[]> {
  const items = new Map<string, FamilyItem & { credentials: Set<string> }>();
  for await (const part of parts) {
    for (const item of part) {
      const credentials = items.get(item.id)?.credentials ?? new Set();
      for (const each of JSON.parse(item.credentials ?? "[]")) credentials.add(each);
      items.set(item.id, { ...item, credentials });
    }
  }
  const sign = direction === "asc" ? 1 : -1;
  const compare = (a: FamilyItem, b: FamilyItem) =>
    sign * (a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  return [...items.values()].toSorted(compare);
}
