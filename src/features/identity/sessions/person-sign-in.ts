import type { PublicContext } from "../../../context.ts";
import type { Results, Statements } from "../../../db/batch.ts";
import type { Taken } from "../../../db/constraint-errors.ts";
import { newId } from "../../../lib/ids.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { issueApiKey, newKeyRow } from "../api-keys/index.ts";
import { issueSession } from "./credentials.ts";
import { SESSION_TTL_MS } from "./model.ts";
import { additionOf, type CreatedSession, toCreated } from "./sign-in-service.ts";
import * as store from "./store.ts";

/** A membership of the person who has signed in by OpenID Connect. */
export interface SignedInPerson {
  organizationId: string;
  membershipId: string;
  accountId: string;
}

interface Options<Before extends Statements> {
  /** What the sign-in does before the session starts, in one batch. */
  before: Before;
  /** The errors of the unique indexes that it may violate. */
  taken?: Taken;
  /** By how much it increases what is counted. */
  records?: { members: number };
  /** At the latest. Default: after the longest time of a session. */
  expiresAt?: number;
  /** The session that it continues. */
  continues?: { id: string };
}

interface Started<Before extends Statements> {
  before: Results<Before>;
  /** Undefined if the membership does not exist or is not active. */
  created: CreatedSession | undefined;
}

/** Starts a session with all that the membership may do. */
export async function startPersonSession<Before extends Statements>(
  ctx: PublicContext,
  person: SignedInPerson,
  { before, taken, records, ...options }: Options<Before>,
): Promise<Started<Before>> {
  const { organizationId, membershipId, accountId } = person;
  const { issued, session, key } = await newSession(ctx, person, options);
  const actor = {
    type: "open_id_connect",
    ...{ organizationId, membershipId, accountId },
  } as const;
  const { growth, ...addition } = additionOf(ctx, session);
  const results = await writeBatch(
    { ...ctx, actor },
    {
      ...addition,
      growth: { ...growth, ...(records && { records, isTemporary: false }) },
      first: { before, key: store.insertKeyOfSession(ctx.db, key) },
      guarded: store.insertSession(ctx.db, session),
      ...(taken && { taken }),
    },
  );
  const [row] = results.guarded;
  // TypeScript does not resolve the results of a generic group.
  const { before: done } = results.first as unknown as { before: Results<Before> };
  return { before: done, created: row && toCreated(row, issued, session.createdAt) };
}

/** With a key of its own. */
async function newSession(
  { clock, origin }: PublicContext,
  { organizationId, membershipId }: SignedInPerson,
  { expiresAt, continues }: Pick<Options<Statements>, "expiresAt" | "continues">,
) {
  const now = clock.now();
  const [issued, issuedKey] = await Promise.all([
    issueSession(newId(clock)),
    issueApiKey(newId(clock)),
  ]);
  const { id, secretHash } = issued;
  const session = {
    ...{ id, secretHash, organizationId, membershipId, keyId: issuedKey.id },
    source: "open_id_connect" as const,
    createdBySessionId: continues?.id ?? null,
    userAgent: origin.userAgent,
    createdAt: now,
    expiresAt: expiresAt ?? now + SESSION_TTL_MS,
  };
  const key = { ...newKeyRow(issuedKey, now), organizationId, membershipId, sessionId: id };
  return { issued, session, key };
}
