import { readsEverything } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { interceptWrites } from "../../../db/client.ts";
import { ApiError } from "../../../lib/errors.ts";
import { isAudit } from "../audit/index.ts";

/**
 * Does the work of a repeated request again until it would write or send, so that its authorization
 * applies as it is now. Throws the refusal, but returns a `not_found`.
 */
export async function authorizeRepeat(
  ctx: ServiceContext,
  work: (ctx: ServiceContext) => Promise<unknown>,
): Promise<ApiError | undefined> {
  let isAuthorized = false;
  const stop = (): never => {
    isAuthorized = true;
    throw new Error("A repeated request neither writes nor sends");
  };
  try {
    await work(withoutEffects(ctx, stop));
  } catch (error) {
    if (isAuthorized) return undefined;
    if (!(error instanceof ApiError)) throw error;
    // Rules that follow the authorization, and that the first request may itself have changed.
    if (error.code === "conflict" || error.code === "bad_input") return undefined;
    if (error.code !== "not_found") throw error;
    return readsEverything(ctx.actor) ? undefined : error;
  }
  return undefined;
}

/** Without `If-Match`: the first request has changed the version. */
function withoutEffects(
  { idempotentRequest: _, expectedVersions: __, ...ctx }: ServiceContext,
  stop: () => never,
): ServiceContext {
  // The audit log has a refused escalation by itself, also for a repeat.
  const beforeWrite = (statement: string) => {
    if (!isAudit(statement)) stop();
  };
  return { ...ctx, db: interceptWrites(ctx.db, beforeWrite), fetch: async () => stop() };
}
