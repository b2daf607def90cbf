/** `npm run seed`: fills the local database with a long history, or with the story of a shop. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CommandError, runCommand } from "../lib/command.ts";
import { openLocalDatabase } from "../lib/database.ts";
import { ensureDevVars, readDevVars } from "../lib/dev-vars.ts";
import { prepareDatabase } from "../lib/local-state.ts";
import { acquireLock } from "../lib/lock.ts";
import { bundle, start } from "../lib/workers.ts";
import { ROOT, STATE } from "../lib/wrangler.ts";
import { tellStory } from "./demo/story.ts";
import { HISTORY_SIZE_OPTIONS, type HistorySize, parseHistorySize } from "./history-size.ts";
import { addKeys, seedOrganization, seedOwner } from "./organization.ts";

const USAGE = "Usage: npm run seed [-- --demo | --deployments N --resources N]";
const DEV_VARS = join(ROOT, ".dev.vars");

await runCommand(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options === "demo") await seedDemo();
  else await seedHistory(options);
  return 0;
});

async function seedHistory(size: HistorySize): Promise<void> {
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
}

/** The story is told through the API, by a Worker that runs as long as the story takes. */
async function seedDemo(): Promise<void> {
  acquireLock("npm run seed");
  await prepareDatabase({ needsKeyState: false });
  ensureDevVars(DEV_VARS);
  const folder = mkdtempSync(join(tmpdir(), "longshore-"));
  const worker = await start(bundle("src/index.ts", folder), readDevVars(DEV_VARS), {
    folder: STATE,
  });
  try {
    const owner = await seedOwner(worker.d1, { name: "Acme" });
    const [key = ""] = await addKeys(worker.d1, owner, 1);
    await tellStory(worker.d1, worker.url.origin, key);
    console.log(`organization  ${owner.organizationId}
owner's key   ${key}

Run npm start, and sign in to the console with this key.`);
  } finally {
    await worker.stop();
    rmSync(folder, { recursive: true });
  }
}

function readOptions(args: string[]): HistorySize | "demo" {
  try {
    const { demo, ...size } = parseArgs({
      args,
      options: { ...HISTORY_SIZE_OPTIONS, demo: { type: "boolean" } },
    }).values;
    if (demo && args.length > 1) throw new Error("--demo takes no other option.");
    return demo ? "demo" : parseHistorySize(size);
  } catch (error) {
    throw new CommandError(`${error instanceof Error ? error.message : error}\n${USAGE}`, 2);
  }
}
