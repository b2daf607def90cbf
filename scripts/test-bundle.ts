/** `npm run test:bundle [-- NAME]`: runs contract tests on the bundle that `wrangler deploy` uploads. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "./lib/workers.ts";
import { ROOT } from "./lib/wrangler.ts";

const folder = mkdtempSync(join(tmpdir(), "longshore-bundle-"));
try {
  const { file } = bundle("src/index.ts", folder);
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const options = ["run", "--config", "test/vitest.config.ts", ...process.argv.slice(2)];
  const run = spawn(process.execPath, [vitest, ...options], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, LONGSHORE_BUNDLE: file },
  });
  const [code] = await once(run, "exit");
  process.exitCode = Number(code ?? 1);
} finally {
  rmSync(folder, { recursive: true });
}
