import { issueCredential } from "../../auth/credentials.ts";
import type { ServiceContext, SystemContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { type AuditedAct, recordActs } from "../audit/index.ts";
import { recordWithSecrets } from "../idempotency/index.ts";
import { limitGrowth } from "../usage/index.ts";
import type { CreatedSignInLink } from "./link-store.ts";
import * as links from "./link-store.ts";
import { CREATOR_ENDED, SIGN_IN_LINK_TTL_MS } from "./model.ts";
import type { ListedSession } from "./store.ts";
import * as store from "./store.ts";

export async function listSessions(
  { db, actor, clock }: ServiceContext,
  page: PageRequest,
): Promise<Page<ListedSession>> {
  return toPage(page, await store.listSessions(db, actor, page, clock.now()), (row) => row);
}

/** Of the membership of the actor, also the session of the request. */
export async function revokeSession(ctx: ServiceContext, id: string): Promise<void> {
  const { db, actor } = ctx;
  const act: AuditedAct = { action: "session.revoked", target: { type: "session", id } };
  const { revocation } = await runBatch(db, {
    revocation: store.revokeSession(ctx, id),
    audit: recordActs(ctx, actor.organizationId, [act]),
  });
  if (revocation.revoked.length === 0) throw new NotFound("session");
  await ctx.invalidateKeys(revocation.keys);
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
  const limits = limitGrowth(ctx, { organizationId, bounds: [links.unusedLinkBound(keyId)] });
  const target = { type: "sign_in_link", id } as const;
  const { created } = await limits.enforce(
    runBatch(db, {
      expired: links.deleteExpiredLinks(db, keyId, now),
      limits: limits.statement,
      created: links.insertLink(ctx, row),
      recorded: await recordWithSecrets(ctx, row, { token, origin }),
      audit: recordActs(ctx, organizationId, [{ action: "sign_in_link.created", target }]),
    }),
  );
  if (created.length === 0) throw new Conflict(CREATOR_ENDED);
  return { row, token, origin };
}

/** Removes the sessions and links that have ended. */
export async function sweepSessions({ db, clock }: SystemContext): Promise<void> {
  await runBatch(db, store.deleteExpired(db, clock.now()));
}
