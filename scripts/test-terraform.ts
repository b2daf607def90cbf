/**
 * `npm run test:terraform [-- --tool PATH] [--record]`: runs the tests of the executor terraform with the real program.
 * With `--record`, its calls replace the recordings that `npm test` replays.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "./lib/wrangler.ts";

const { values } = parseArgs({
  options: {
    tool: { type: "string", default: "terraform" },
    record: { type: "boolean", default: false },
  },
});

const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
const tests = [
  "test/programs/executors/executor-terraform.test.ts",
  "test/programs/docs/to-production.test.ts",
];
const run = spawn(
  process.execPath,
  [vitest, "run", "--config", "test/vitest.config.ts", ...tests],
  {
    cwd: ROOT,
    stdio: "inherit",
    env: {
      ...process.env,
      LONGSHORE_TEST_TERRAFORM: values.tool,
      ...(values.record && { LONGSHORE_TEST_TERRAFORM_RECORD: "1" }),
    },
  },
);
const [code] = await once(run, "exit");
if (values.record) {
  const biome = [
    "@biomejs/biome",
    "check",
    "--write",
    "test/programs/support/terraform/recordings",
  ];
  await once(spawn("npx", biome, { cwd: ROOT, stdio: "inherit" }), "exit");
}
process.exitCode = Number(code ?? 1);
