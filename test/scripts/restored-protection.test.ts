import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { backUp, restoreLines } from "../support/backups.ts";
import { Instrumented } from "../support/instruments.ts";
import { approve, joinProject, newFreeze, newProtectedEnvironment } from "../support/protection.ts";
import { Attempt, claim } from "../support/runner.ts";
import { newDeployment, newWorld } from "../support/world.ts";
import { permissive } from "../walk/fixture.ts";

const APPROVALS = { approvals: { required: 1, approvers: { role: "owner" } } };
const HOUR_MS = 3_600_000;

beforeAll(() => applyD1Migrations(env.RESTORED, env.TEST_MIGRATIONS));

/** Of a backup, or of a time to which Time Travel goes back: the rows are those of then, and the time is later. */
it("a restored deployment does not start without its conditions", async () => {
  const world = await newWorld();
  const waiting = await newProtectedEnvironment(world, APPROVALS);
  const unevaluated = await newProtectedEnvironment(world, APPROVALS);
  const approved = await newProtectedEnvironment(world, APPROVALS);
  const mona = await joinProject(world, approved.project.id, "contributor");
  await newDeployment(world.client, waiting.environmentId);
  const { id: unknown } = await newDeployment(world.client, unevaluated.environmentId);
  await env.DB.prepare("update deployments set held_until = null where id = ?").bind(unknown).run();
  const { id } = await newDeployment(mona.client, approved.environmentId);
  expect((await approve(world.client, id)).status).toBe(201);
  const freeze = {
    starts_at: new Date(Date.now() + HOUR_MS).toISOString(),
    ends_at: new Date(Date.now() + 3 * HOUR_MS).toISOString(),
  };
  const freezes = `/v1/projects/${approved.project.id}/freezes`;
  expect((await world.client.post(freezes, newFreeze(freeze))).status).toBe(201);
  await restoreLines(await backUp());

  const restoredAt = (now: number) =>
    new Instrumented({
      database: env.RESTORED,
      limiters: permissive,
      clock: { now: () => now },
    });
  const meanwhile = restoredAt(Date.now() + 2 * HOUR_MS);
  for (const sweep of [() => undefined, meanwhile.sweep]) {
    await sweep();
    for (const { pool } of [waiting, unevaluated, approved]) {
      expect((await claim(pool.runner.via(meanwhile.fetch))).status).toBe(204);
    }
  }
  const later = restoredAt(Date.now() + 4 * HOUR_MS);
  await later.sweep();
  const attempt = await Attempt.claim(approved.pool.runner.via(later.fetch));
  expect(attempt.deploymentId).toBe(id);
  expect((await attempt.post("start")).status).toBe(200);
  for (const { pool } of [waiting, unevaluated]) {
    expect((await claim(pool.runner.via(later.fetch))).status).toBe(204);
  }
});
