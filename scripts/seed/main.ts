/** `npm run seed`: an organization with a long history in the database of this machine. */
import { parseArgs } from "node:util";
import { migrateLocally, openDatabase } from "../lib/database.ts";
import { Failure, runScript } from "../lib/command.ts";
import { AMOUNT_OPTIONS, type Amounts, toAmounts } from "./history-size.ts";
import { addKeys, seedOrganization } from "./organization.ts";

const USAGE = "Usage: npm run seed [-- --deployments N --resources N]";

await runScript(async () => {
  const amounts = readAmounts(process.argv.slice(2));
  await migrateLocally();
  const { d1, close } = await openDatabase({ remote: false });
  try {
    const { owner, member, place } = await seedOrganization(d1, amounts);
    const [ownerKey] = await addKeys(d1, owner, 1);
    const [memberKey] = await addKeys(d1, member, 1);
    console.log(`organization  ${owner.organizationId}
environment   ${place.environmentId}
stacks        ${place.stackIds.join(", ")}
owner's key   ${ownerKey}
member's key  ${memberKey}`);
  } finally {
    await close();
  }
  return 0;
});

function readAmounts(args: string[]): Amounts {
  try {
    return toAmounts(parseArgs({ args, options: AMOUNT_OPTIONS }).values);
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message : error}\n${USAGE}`, 2);
  }
}
