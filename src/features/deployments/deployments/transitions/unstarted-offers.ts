import { type SQL, sql } from "drizzle-orm";
import {
  DEPLOYMENT_FAILURES,
  MAXIMUM_LAPSED_OFFERS,
  MAXIMUM_RELEASED_OFFERS,
} from "../lifecycle.ts";
import { deploymentStatus } from "../table.ts";

/** What an offer that lapses changes in its deployment. The last one fails it. */
export function lapsedOffer(now: number) {
  const lapsedOffers = sql`lapsed_offers + 1`;
  return { lapsedOffers, ...failIf(sql`${lapsedOffers} >= ${MAXIMUM_LAPSED_OFFERS}`, now) };
}

/** The same for an offer that a runner releases. */
export function releasedOffer(now: number) {
  const releasedOffers = sql`released_offers + 1`;
  return { releasedOffers, ...failIf(sql`${releasedOffers} >= ${MAXIMUM_RELEASED_OFFERS}`, now) };
}

function failIf(isLast: SQL, now: number) {
  const ifLast = (value: SQL) => sql`case when ${isLast} then ${value} end`;
  return {
    status: sql`coalesce(${ifLast(deploymentStatus.failed)}, status)`,
    failureReason: ifLast(sql`${DEPLOYMENT_FAILURES.neverStarted}`),
    finishedAt: ifLast(sql`${now}`),
    updatedAt: sql`coalesce(${ifLast(sql`${now}`)}, updated_at)`,
  };
}
