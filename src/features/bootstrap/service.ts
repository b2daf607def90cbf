import { runBatch } from "../../db/batch.ts";
import { openForWriting } from "../../db/client.ts";
import { mapUniqueViolation } from "../../db/constraint-errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { equalInConstantTime } from "../../lib/digest.ts";
import { NotFound, Unauthenticated } from "../../lib/errors.ts";
import { type NewPerson, newAccount } from "../memberships/index.ts";
import { type FoundedOrganization, prepareFounding } from "../organizations/index.ts";
import * as store from "./store.ts";

/** Throws unless the caller's token is the deployment's; without one nobody can bootstrap. */
export async function requireBootstrapToken(
  presented: string | undefined,
  expected: string | undefined,
): Promise<void> {
  if (presented && expected && (await equalInConstantTime(presented, expected))) return;
  throw new Unauthenticated("Send the bootstrap token: authorization: Bearer <token>.");
}

/** Throws once somebody has bootstrapped: from then on the path is not there. */
export async function requireUnused(d1: D1Database): Promise<void> {
  const [used] = await store.findBootstrap(openForWriting(d1).db);
  if (used) throw new NotFound("path");
}

/** Makes the first account, organization and key. Of any number of callers, one succeeds, ever. */
export async function bootstrap(
  d1: D1Database,
  clock: Clock,
  input: { organizationName: string; account: NewPerson },
): Promise<FoundedOrganization> {
  const { db } = openForWriting(d1);
  const account = newAccount(clock, input.account);
  const founding = await prepareFounding(
    { db, clock },
    {
      name: input.organizationName,
      accountId: account.id,
    },
  );
  const { organization } = founding.founded;
  const { organization: created, ...rest } = founding.statements;
  await mapUniqueViolation(
    runBatch(db, {
      created,
      bootstrap: store.insertBootstrap(db, organization.id, organization.createdAt),
      account: store.insertFirstAccount(db, account),
      ...rest,
    }),
    ["bootstraps.only"],
    () => new NotFound("path"),
  );
  return founding.founded;
}
