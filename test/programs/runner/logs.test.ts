import { randomInt } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { newSecrets } from "../../../packages/server/src/secrets.ts";
import { runScenario } from "../../../scripts/kill-logs/scenario.ts";
import { findFreePort } from "../../../scripts/lib/port.ts";

// `npm run test:kill-logs` does the same with more of each.
it("keeps every byte once, and no secret, while the server is killed and the follower disconnected", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "longshore-logs-"));
  context.onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const state = join(folder, "state");
  mkdirSync(state);
  const seed = randomInt(1_000_000);
  const { problems, disconnections, killedAt } = await runScenario({
    run: {
      file: inject("bundle"),
      folder: state,
      bindings: newSecrets(),
      port: await findFreePort(),
    },
    bytes: 1_000_000,
    kills: 1,
    disconnections: 3,
    seed,
  });
  expect({ seed, problems }).toEqual({ seed, problems: [] });
  expect(disconnections).toBe(3);
  expect(killedAt).toHaveLength(1);
});
