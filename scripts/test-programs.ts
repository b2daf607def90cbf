/**
 * `npm run test:programs [-- GROUP…] [-- FILE…]`: runs the tests that start programs or a browser: all, those of folders of
 * `test/programs`, such as `cli`, or those of files with such a name. Options of vitest follow them.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./lib/wrangler.ts";

const FOLDER = "test/programs";
const groups = readdirSync(join(ROOT, FOLDER));
// A filter matches any part of a path: "cli" would match those of "client", too.
const args = process.argv
  .slice(2)
  .map((each) => (groups.includes(each) ? `${FOLDER}/${each}/` : each));

const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
const options = ["run", "--config", "test/vitest.config.ts", "--project", "programs"];
const run = spawn(process.execPath, [vitest, ...options, ...args], {
  cwd: ROOT,
  stdio: "inherit",
});
const [code] = await once(run, "exit");
process.exitCode = Number(code ?? 1);
