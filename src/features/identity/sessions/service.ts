import { requireOrgRole } from "../../../actor.ts";
import { issueCredential } from "../../../auth/credentials.ts";
import type { ServiceContext, SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { lowerOrgRole } from "../../../lib/roles.ts";
import { write } from "../../../writes/write.ts";
import { requireAccess } from "../api-keys/index.ts";
import { type DescendantsOption, type FamilyReach, revokeFamilyOf } from "../credentials/index.ts";
import type { CreatedSignInLink } from "./link-store.ts";
import * as links from "./link-store.ts";
import { CREATOR_ENDED, type SessionStatus, SIGN_IN_LINK_TTL_MS } from "./model.ts";
import type { ListedSession } from "./store.ts";
import * as store from "./store.ts";

export async function listSessions(
  { db, actor, clock }: ServiceContext,
  page: PageRequest,
): Promise<Page<ListedSession>> {
  return toPage(page, await store.listSessions(db, actor, page, clock.now()), (row) => row);
}

/** An admin sees the sessions of every member, also of one who was removed. */
export async function listMemberSessions(
  { db, actor, clock }: ServiceContext,
  { organizationId, membershipId }: Omit<store.SessionId, "id">,
  page: PageRequest & { status: SessionStatus },
): Promise<Page<ListedSession | store.EndedSession>> {
  requireOrgRole(actor, organizationId, "admin");
  const owner = { organizationId, membershipId };
  const { known, rows } = await batch(db, {
    known: store.findOwner(db, owner),
    rows:
      page.status === "ended"
        ? store.listEndedSessions(db, owner, page)
        : store.listSessions(db, owner, page, clock.now()),
  });
  if (known.length === 0) throw new NotFound("membership");
  return toPage<ListedSession | store.EndedSession>(page, rows, (row) => row);
}

/** Of the membership of the actor. With `revoke`, what it has made ends in all organizations. */
export async function revokeSession(
  ctx: ServiceContext,
  id: string,
  descendants?: DescendantsOption,
): Promise<void> {
  const { organizationId, membershipId } = ctx.actor;
  await endSession(ctx, { organizationId, membershipId, id }, descendants, "switched");
}

export async function revokeMemberSession(
  ctx: ServiceContext,
  id: store.SessionId,
  descendants?: DescendantsOption,
): Promise<void> {
  requireOrgRole(ctx.actor, id.organizationId, "admin");
  await endSession(ctx, id, descendants, "founded");
}

/** Whoever acts on another session needs at least its access. An ended one is only left with what it made. */
async function endSession(
  ctx: ServiceContext,
  id: store.SessionId,
  descendants: DescendantsOption | undefined,
  reach: FamilyReach,
): Promise<void> {
  const session = await requireSession(ctx, id);
  if (session.hasEnded && descendants !== "revoke") throw new NotFound("session");
  const target = { type: "session", id: id.id } as const;
  if (id.id !== ctx.actor.session?.id) {
    const role = lowerOrgRole(session.keyRole, session.membershipRole);
    await requireAccess(ctx, target, role, session);
  }
  if (descendants === "revoke") {
    return revokeFamilyOf(ctx, {
      organizationId: id.organizationId,
      roots: [id.id],
      reach,
    });
  }
  const { ended, ...first } = store.endSession(ctx, id);
  await write(ctx, {
    first,
    guarded: ended,
    acts: [{ action: "session.revoked", target }],
    otherwise: () => new NotFound("session"),
    committed: ({ keys }) => ctx.invalidateKeys(keys),
  });
}

/** Also one that has ended. */
async function requireSession(
  { db }: ServiceContext,
  id: store.SessionId,
): Promise<store.FoundSession & { hasEnded: boolean }> {
  const { active, ended } = await batch(db, store.findSessions(db, id));
  const [session] = [...active, ...ended];
  if (!session) throw new NotFound("session");
  return { ...session, hasEnded: active.length === 0 };
}

export async function endCurrentSession(ctx: ServiceContext): Promise<void> {
  const { session } = ctx.actor;
  if (!session) throw new Error("The operation needs a session");
  await revokeSession(ctx, session.id);
}

/** The link signs in with the authority of the key of the request. */
export async function createSignInLink(
  ctx: ServiceContext,
  origin: string,
): Promise<CreatedSignInLink> {
  const { db, actor, clock } = ctx;
  const { organizationId, membershipId, keyId, session } = actor;
  const id = newId(clock);
  const { key: token, secretHash } = await issueCredential("lsl", id);
  const now = clock.now();
  const sessionExpiresAt = session?.expiresAt ?? null;
  const row = {
    ...{ id, organizationId, membershipId, keyId, secretHash },
    createdBySessionId: session?.id ?? null,
    sessionExpiresAt,
    createdAt: now,
    expiresAt: Math.min(now + SIGN_IN_LINK_TTL_MS, sessionExpiresAt ?? Number.POSITIVE_INFINITY),
  };
  const target = { type: "sign_in_link", id } as const;
  return write(ctx, {
    lapsed: { links: links.deleteExpiredLinks(db, keyId, now) },
    growth: { organizationId, bounds: [links.unusedLinkBound(keyId)], isTemporary: true },
    guarded: links.insertLink(ctx, row),
    value: row,
    secrets: { token, origin },
    acts: [{ action: "sign_in_link.created", target }],
    otherwise: () => CREATOR_ENDED,
  });
}

/** Removes the sessions and links that have ended. */
export async function sweepSessions({ db, clock }: SystemContext): Promise<void> {
  await batch(db, store.deleteExpired(db, clock.now()));
}
