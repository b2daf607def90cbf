import type { Database } from "../../db/client.ts";
import { isUniqueViolation } from "../../db/failures.ts";
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

/** Makes the first account, organization and key. Of any number of callers, one succeeds, ever. */
export async function bootstrap(
  ctx: { db: Database; clock: Clock },
  input: { organizationName: string; account: NewPerson },
): Promise<FoundedOrganization> {
  const account = newAccount(ctx.clock, input.account);
  const founding = await prepareFounding(ctx, {
    name: input.organizationName,
    accountId: account.id,
  });
  const { organization } = founding.founded;
  const [insertOrganization, ...rest] = founding.statements;
  try {
    await ctx.db.batch([
      insertOrganization,
      store.insertBootstrap(ctx.db, organization.id, organization.createdAt),
      store.insertFirstAccount(ctx.db, account),
      ...rest,
    ]);
  } catch (error) {
    if (isUniqueViolation(error, "bootstraps.only")) throw new NotFound("path");
    throw error;
  }
  return founding.founded;
}
