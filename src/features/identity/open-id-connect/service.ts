import type { ServiceContext, SystemContext } from "../../../context.ts";
import { after } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { NotFound } from "../../../lib/errors.ts";
import { writeAudit } from "../../housekeeping/audit/index.ts";
import { type CreatedSession, endSession, startPersonSession } from "../sessions/index.ts";
import { ONLY_OPEN_ID_CONNECT } from "./model.ts";
import type { OwnOrganization } from "./store.ts";
import * as store from "./store.ts";

/** The organizations that the session can switch to, with its own. */
export async function listOwnOrganizations(
  { db, actor }: ServiceContext,
  page: PageRequest,
): Promise<Page<OwnOrganization>> {
  const rows = await store.listOwnOrganizations(db, actor, page);
  return toPage(page, rows, ({ createdAt, membershipId: id }) => ({ createdAt, id }));
}

/**
 * Ends the session, and starts one in another organization of the person. It lasts no longer.
 * @throws ApiError unless the session is from OpenID Connect and the person has accepted the membership.
 */
export async function switchOrganization(
  ctx: ServiceContext,
  organizationId: string,
): Promise<CreatedSession> {
  const { db, actor, clock } = ctx;
  const { session } = actor;
  const [person] = await store.findOwnOrganization(db, actor, organizationId);
  if (!person) throw new NotFound("organization");
  if (!session?.isOfPerson) throw ONLY_OPEN_ID_CONNECT;
  const { organizationId: from, membershipId } = actor;
  const ended = endSession(ctx, { organizationId: from, membershipId, id: session.id });
  const act = { action: "session.revoked", target: { type: "session", id: session.id } } as const;
  const { before, created } = await startPersonSession(ctx, person, {
    before: {
      ...ended,
      audit: after(ended.ended, (hasEnded) => writeAudit(ctx, from, [act], hasEnded)),
      signIn: store.recordSignIn(db, person.membershipId, clock.now()),
    },
    expiresAt: session.expiresAt,
    continues: session,
  });
  await ctx.invalidateKeys(before.keys);
  if (!created) throw new NotFound("organization");
  return created;
}

export async function sweepUsedSignIns({ db, clock }: SystemContext): Promise<void> {
  await store.deleteExpired(db, clock.now());
}
