import type { ChangedKey, IdempotentRequest, ServiceContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { IDEMPOTENCY_KEY_REUSED } from "../../lib/header-errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { describeError } from "../../lib/log.ts";
import { readResult, recordResult } from "./record.ts";
import * as store from "./store.ts";

/**
 * Does the work of a request, or returns the result of the request that it repeats. The work records its
 * result in the batch that writes. Without an `Idempotency-Key`, it only does the work.
 * Source: draft-ietf-httpapi-idempotency-key-header.
 */
export async function once<Result>(
  ctx: ServiceContext,
  work: () => Promise<Result>,
): Promise<Result> {
  const request = ctx.idempotentRequest;
  if (!request) return work();
  const repeated = await findRepeated(ctx, request);
  if (repeated) return replay<Result>(ctx, request, repeated);
  try {
    const result = await work();
    // The work had nothing to write. A repeat must not find something to write later.
    if (!request.isRecorded) await recordUnchanged(ctx, request, result);
    return result;
  } catch (error) {
    return replayAfter<Result>(ctx, request, error);
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
): Promise<Result> {
  const repeated = await findRepeated(ctx, request).catch((failure: unknown) => {
    const { requestId: request_id } = ctx.origin;
    if (failure !== IDEMPOTENCY_KEY_REUSED) {
      ctx.log("error", "idempotency.work_failed", { request_id, ...describeError(error) });
    }
    throw failure;
  });
  if (!repeated) throw error;
  return replay(ctx, request, repeated);
}

/** Does again what the first request may not have done after its commit. */
async function replay<Result>(
  ctx: ServiceContext,
  request: IdempotentRequest,
  record: store.RecordRow,
): Promise<Result> {
  const changedKeys = JSON.parse(record.changedKeys) as ChangedKey[];
  if (changedKeys.length > 0) await ctx.invalidateKeys(changedKeys);
  if (record.pendingDeliveryId !== null) ctx.enqueue([record.pendingDeliveryId]);
  if (record.id !== request.recordId) request.replayedStatus = record.status;
  return (await readResult(ctx, record)) as Result;
}

async function findRepeated(
  ctx: ServiceContext,
  { key, fingerprint }: IdempotentRequest,
): Promise<store.RecordRow | undefined> {
  const latest = ctx.clock.now() - LIMITS.idempotencyMs.value;
  const { found } = await runBatch(ctx.db, store.findRecord(ctx.db, ctx.actor, key, latest));
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
  await runBatch(ctx.db, { recorded: recordResult(ctx, result, { condition: "always" }) });
}
