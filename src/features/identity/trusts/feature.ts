import type { SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import type { Feature } from "../../../feature.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { trusts, usedTokens } from "../credentials/trust-table.ts";
import { deleteExpired } from "./store.ts";

const CHUNK = 500;

/** Removes expired keys and runner tokens of trusts, and the record of expired tokens. */
async function sweepExpired({ db, clock }: SystemContext): Promise<void> {
  const now = clock.now();
  for (let removed = 0; removed < LIMITS.sweepExpiredKeys.value; removed += CHUNK) {
    const results = Object.values(await batch(db, deleteExpired(db, now, CHUNK)));
    if (results.every(({ length }) => length < CHUNK)) return;
  }
}

export const trustsFeature = {
  routes: [
    {
      paths: ["/v1/orgs/:org_id/trusts", "/v1/orgs/:org_id/trusts/:trust_id", "/v1/oidc/token"],
      load: async (deps) => (await import("./routes.ts")).createTrustRoutes(deps),
    },
  ],
  tables: [
    {
      table: trusts,
      deletedWith: [trusts.membershipId, trusts.poolId],
    },
    {
      table: usedTokens,
      deletedWith: [],
    },
  ],
  sweep: sweepExpired,
} satisfies Feature;
