import type { ChangedKey, IdempotentRequest, ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import type { ApiError } from "../../../lib/errors.ts";
import { IDEMPOTENCY_KEY_REUSED } from "../../../lib/header-errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { describeError } from "../../../lib/log.ts";
import { authorizeRepeat } from "./authorize-repeat.ts";
import { isSaved, saveResponse } from "./entry.ts";
import { readResult } from "./result.ts";
import * as store from "./store.ts";

type SentRequest = Omit<IdempotentRequest, "actor">;

type Work<Result> = (ctx: ServiceContext) => Promise<Result>;

/** The response that a request repeats. */
export interface Replay {
  status: number;
  /** Why the repeat is refused, unless the caller can read what the stored response shows. */
  notFound: ApiError | undefined;
}

/** The result of the work, or of the request that this one repeats. */
interface Performed<Result> {
  result: Result;
  /** Absent: the work was done now. */
  replay?: Replay;
}

/**
 * Does the work of a request, or returns the result of the request that it repeats. The work saves
 * its result in the batch that writes, which is its only effect and follows its authorization.
 * Source: draft-ietf-httpapi-idempotency-key-header.
 */
export async function once<Result>(
  ctx: ServiceContext,
  request: SentRequest,
  work: Work<Result>,
): Promise<Performed<Result>> {
  const repeated = await findRepeated(ctx, request);
  if (repeated) return replay(ctx, request, repeated, work);
  const idempotentRequest = { ...request, actor: ctx.actor };
  const saving = { ...ctx, idempotentRequest };
  try {
    const result = await work(saving);
    // The work had nothing to write. A repeat must not find something to write later.
    if (!isSaved(idempotentRequest)) await saveUnchanged(saving, result);
    return { result };
  } catch (error) {
    return replayAfter(ctx, request, error, work);
  }
}

/**
 * The work failed, but an entry may exist: a concurrent request with the key was first, or the failure
 * came after the commit. Throws the error if there is none. If that cannot be found out, throws the
 * failure to find out: a `conflict` would say that nothing was written.
 */
async function replayAfter<Result>(
  ctx: ServiceContext,
  request: SentRequest,
  error: unknown,
  work: Work<Result>,
): Promise<Performed<Result>> {
  const repeated = await findRepeated(ctx, request).catch((failure: unknown) => {
    const { requestId: request_id } = ctx.origin;
    if (failure !== IDEMPOTENCY_KEY_REUSED) {
      ctx.log("error", "idempotency.work_failed", { request_id, ...describeError(error) });
    }
    throw failure;
  });
  if (!repeated) throw error;
  return replay(ctx, request, repeated, work);
}

/**
 * First does again, for any caller, what the first request may not have done after its commit: a cache
 * may still have what the request has taken from a key.
 */
async function replay<Result>(
  ctx: ServiceContext,
  request: SentRequest,
  entry: store.EntryRow,
  work: Work<Result>,
): Promise<Performed<Result>> {
  const changedKeys = JSON.parse(entry.changedKeys) as ChangedKey[];
  if (changedKeys.length > 0) await ctx.invalidateKeys(changedKeys);
  const { pendingDeliveryId: deliveryId } = entry;
  if (deliveryId !== null) ctx.enqueue([{ deliveryId }]);
  const isOwn = entry.id === request.entryId;
  const notFound = isOwn ? undefined : await authorizeRepeat(ctx, work);
  try {
    const result = (await readResult(ctx, entry)) as Result;
    return isOwn ? { result } : { result, replay: { status: entry.status, notFound } };
  } catch (error) {
    throw notFound ?? error;
  }
}

async function findRepeated(
  ctx: ServiceContext,
  { key, fingerprint }: SentRequest,
): Promise<store.EntryRow | undefined> {
  const latest = ctx.clock.now() - LIMITS.idempotencyMs.value;
  const { found } = await batch(ctx.db, store.findEntry(ctx.db, ctx.actor, key, latest));
  const [entry] = found;
  if (entry && entry.fingerprint !== fingerprint) throw IDEMPOTENCY_KEY_REUSED;
  return entry;
}

async function saveUnchanged(ctx: ServiceContext, result: unknown): Promise<void> {
  const saved = saveResponse(ctx, { value: result }, { condition: "always" });
  await batch(ctx.db, { saved });
}
