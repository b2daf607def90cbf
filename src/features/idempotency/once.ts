import type { ChangedKey, IdempotentRequest, ServiceContext } from "../../context.ts";
import { batch } from "../../db/batch.ts";
import { IDEMPOTENCY_KEY_REUSED } from "../../lib/header-errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { describeError } from "../../lib/log.ts";
import { authorizeRepeat } from "./authorize-repeat.ts";
import { readResult, recordResult } from "./record.ts";
import * as store from "./store.ts";

type Work<Result> = (ctx: ServiceContext) => Promise<Result>;

type Verb<Args extends readonly unknown[], Result> = (
  ctx: ServiceContext,
  ...args: Args
) => Promise<Result>;

/**
 * Calls the verb of a request, or returns the result of the request that it repeats. The verb records
 * its result in the batch that writes, which is its only effect and follows its authorization. Without
 * an `Idempotency-Key`, only calls the verb. Source: draft-ietf-httpapi-idempotency-key-header.
 */
export async function once<Args extends readonly unknown[], Result>(
  ctx: ServiceContext,
  verb: Verb<Args, Result>,
  ...args: Args
): Promise<Result> {
  const request = ctx.idempotentRequest;
  const work: Work<Result> = (context) => verb(context, ...args);
  if (!request) return work(ctx);
  const repeated = await findRepeated(ctx, request);
  if (repeated) return replay(ctx, request, repeated, work);
  try {
    const result = await work(ctx);
    // The work had nothing to write. A repeat must not find something to write later.
    if (!request.isRecorded) await recordUnchanged(ctx, request, result);
    return result;
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
  request: IdempotentRequest,
  error: unknown,
  work: Work<Result>,
): Promise<Result> {
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
  request: IdempotentRequest,
  record: store.RecordRow,
  work: Work<Result>,
): Promise<Result> {
  const changedKeys = JSON.parse(record.changedKeys) as ChangedKey[];
  if (changedKeys.length > 0) await ctx.invalidateKeys(changedKeys);
  const { pendingDeliveryId: deliveryId } = record;
  if (deliveryId !== null) ctx.enqueue([{ deliveryId }]);
  if (record.id !== request.recordId) {
    request.notFound = await authorizeRepeat(ctx, work);
    request.replayedStatus = record.status;
  }
  try {
    return (await readResult(ctx, record)) as Result;
  } catch (error) {
    throw request.notFound ?? error;
  }
}

async function findRepeated(
  ctx: ServiceContext,
  { key, fingerprint }: IdempotentRequest,
): Promise<store.RecordRow | undefined> {
  const latest = ctx.clock.now() - LIMITS.idempotencyMs.value;
  const { found } = await batch(ctx.db, store.findRecord(ctx.db, ctx.actor, key, latest));
  const [record] = found;
  if (record && record.fingerprint !== fingerprint) throw IDEMPOTENCY_KEY_REUSED;
  return record;
}

async function recordUnchanged(
  ctx: ServiceContext,
  request: IdempotentRequest,
  result: unknown,
): Promise<void> {
  if (request.hasSecrets) throw new Error("A result with secrets was not recorded");
  await batch(ctx.db, { recorded: recordResult(ctx, result, { condition: "always" }) });
}
