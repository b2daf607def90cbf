/**
 * `npm run test:kill-logs -- --megabytes N --kills K --disconnects D`: a runner's command prints N MB
 * with secrets in it, while the process of the Worker is killed K times, and the follower of the log is
 * disconnected D times. Verifies every byte of the log, and that no secret is in its storage.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newSecrets } from "../packages/server/src/secrets.ts";
import { runScenario } from "./kill-logs/scenario.ts";
import { CommandError, readCommandLine, runCommand } from "./lib/command.ts";
import { findFreePort } from "./lib/port.ts";
import { bundle } from "./lib/workers.ts";

const USAGE =
  "Usage: npm run test:kill-logs -- [--megabytes 10] [--kills 2] [--disconnects 10] [--seed N]";
const MEGABYTE = 1_000_000;

await runCommand(async () => {
  const options = {
    megabytes: { type: "string", default: "10" },
    kills: { type: "string", default: "2" },
    disconnects: { type: "string", default: "10" },
    seed: { type: "string", default: String(Date.now() % MEGABYTE) },
  } as const;
  const { values } = readCommandLine(options, USAGE);
  const { megabytes, kills, disconnects, seed } = values;
  const numbers = [megabytes, kills, disconnects, seed].map(Number);
  if (!numbers.every((number) => number >= 0)) throw new CommandError(USAGE, 2);
  const folder = mkdtempSync(join(tmpdir(), "longshore-kill-logs-"));
  const state = join(folder, "state");
  mkdirSync(state);
  try {
    const run = {
      file: bundle("src/index.ts", join(folder, "bundle")),
      folder: state,
      bindings: newSecrets(),
      port: await findFreePort(),
    };
    const result = await runScenario({
      run,
      bytes: Number(megabytes) * MEGABYTE,
      kills: Number(kills),
      disconnections: Number(disconnects),
      seed: Number(seed),
    });
    const { problems, bytes, storedBytes, killedAt, disconnections, connections } = result;
    const shares = killedAt.map((share) => `, killed at ${Math.round(share * 100)} %`);
    console.log(
      `Seed ${seed}: a log of ${bytes} bytes (${storedBytes} stored)${shares.join("")}, ` +
        `${disconnections} disconnections, ${connections} connections, ` +
        `${Math.round(performance.now() / 1_000)} s. ` +
        (problems.length > 0
          ? `WRONG:\n${problems.join("\n")}`
          : "Every byte is there once, and no secret is stored."),
    );
    return problems.length > 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
