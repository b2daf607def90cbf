/** `npm run test:walk -- --walks N [--seed S]`: runs N random walks of the deployment tests. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "./lib/wrangler.ts";

const { values } = parseArgs({
  options: {
    walks: { type: "string", default: "1000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
  },
});

console.log(`${values.walks} walks from seed ${values.seed}`);
const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
const run = spawn(
  process.execPath,
  [vitest, "run", "--config", "test/vitest.config.ts", "test/walk/"],
  {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, EFFORT: `walks=${values.walks},walkSeed=${values.seed}` },
  },
);
const [code] = await once(run, "exit");
process.exitCode = Number(code ?? 1);
