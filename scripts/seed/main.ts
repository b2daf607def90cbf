/** `npm run seed`: inserts an organization with a long history into the local database. */
import { parseArgs } from "node:util";
import { CommandError, runCommand } from "../lib/command.ts";
import { openLocalDatabase } from "../lib/database.ts";
import { prepareDatabase } from "../lib/local-state.ts";
import { HISTORY_SIZE_OPTIONS, type HistorySize, parseHistorySize } from "./history-size.ts";
import { addKeys, seedOrganization } from "./organization.ts";

const USAGE = "Usage: npm run seed [-- --deployments N --resources N]";

await runCommand(async () => {
  const size = readHistorySize(process.argv.slice(2));
  await prepareDatabase({ needsKeyState: false });
  const { d1, close } = await openLocalDatabase();
  try {
    const { owner, member, project } = await seedOrganization(d1, size);
    const [ownerKey] = await addKeys(d1, owner, 1);
    const [memberKey] = await addKeys(d1, member, 1);
    console.log(`organization  ${owner.organizationId}
environment   ${project.environmentId}
stacks        ${project.stackIds.join(", ")}
owner's key   ${ownerKey}
member's key  ${memberKey}`);
  } finally {
    await close();
  }
  return 0;
});

function readHistorySize(args: string[]): HistorySize {
  try {
    return parseHistorySize(parseArgs({ args, options: HISTORY_SIZE_OPTIONS }).values);
  } catch (error) {
    throw new CommandError(`${error instanceof Error ? error.message : error}\n${USAGE}`, 2);
  }
}
