import type { ChangedKey, IdempotentRequest, ServiceContext } from "../../context.ts";
import { batch } from "../../db/batch.ts";
import type { ApiError } from "../../lib/errors.ts";
import { IDEMPOTENCY_KEY_REUSED } from "../../lib/header-errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { describeError } from "../../lib/log.ts";
import { authorizeRepeat } from "./authorize-repeat.ts";
import { saveResponse } from "./record.ts";
import { readResult } from "./result.ts";
import * as store from "./store.ts";

type SentRequest = Omit<IdempotentRequest, "actor" | "recorded">;

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
 * Does the work of a request, or returns the result of the request that it repeats. The work records
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
  let isRecorded = false;
  const recorded = () => {
    isRecorded = true;
  };
  const recording = { ...ctx, idempotentRequest: { ...request, actor: ctx.actor, recorded } };
  try {
    const result = await work(recording);
    // The work had nothing to write. A repeat must not find something to write later.
    if (!isRecorded) await recordUnchanged(recording, result);
    return { result };
  } catch (error) {
    return replayAfter(ctx, request, error, work);
  }
}

/**
 * The work failed, but a record may exist: a concurrent request with the key was first, or the failure
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
  record: store.RecordRow,
  work: Work<Result>,
): Promise<Performed<Result>> {
  const changedKeys = JSON.parse(record.changedKeys) as ChangedKey[];
  if (changedKeys.length > 0) await ctx.invalidateKeys(changedKeys);
  const { pendingDeliveryId: deliveryId } = record;
  if (deliveryId !== null) ctx.enqueue([{ deliveryId }]);
  const isOwn = record.id === request.recordId;
  const notFound = isOwn ? undefined : await authorizeRepeat(ctx, work);
  try {
    const result = (await readResult(ctx, record)) as Result;
    return isOwn ? { result } : { result, replay: { status: record.status, notFound } };
  } catch (error) {
    throw notFound ?? error;
  }
}

async function findRepeated(
  ctx: ServiceContext,
  { key, fingerprint }: SentRequest,
): Promise<store.RecordRow | undefined> {
  const latest = ctx.clock.now() - LIMITS.idempotencyMs.value;
  const { found } = await batch(ctx.db, store.findRecord(ctx.db, ctx.actor, key, latest));
  const [record] = found;
  if (record && record.fingerprint !== fingerprint) throw IDEMPOTENCY_KEY_REUSED;
  return record;
}

async function recordUnchanged(ctx: ServiceContext, result: unknown): Promise<void> {
  const recorded = saveResponse(ctx, { value: result }, { condition: "always" });
  await batch(ctx.db, { recorded });
}
