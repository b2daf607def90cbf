import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { LOST_AFTER_MS } from "../../src/features/deployments/deployments/index.ts";
import { Instrumented } from "../support/instruments.ts";
import { newIntegration } from "../support/integrations.ts";
import { joinProject, protect } from "../support/protection.ts";
import { Attempt } from "../support/runner.ts";
import { newDeployableProject, newDeployment, newWorld, type World } from "../support/world.ts";

const DAY_MS = 86_400_000;
const APPROVALS = { approvals: { required: 1, approvers: { role: "owner" } } };

let broken: World;
let other: World;

beforeEach(async () => {
  [broken, other] = [await newWorld(), await newWorld()];
});

const run = (sql: string, ...values: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run();

/** A deployment that waits for an approval. */
async function newHeld(world: World): Promise<{ id: string }> {
  const { project, environmentId } = await newDeployableProject(world);
  const { client } = await joinProject(world, project.id, "contributor");
  await protect(world.client, environmentId, APPROVALS);
  const { id } = await newDeployment(client, environmentId);
  return { id };
}

const setCreators = (id: string, creators: string) =>
  run("update deployments set creators = ? where id = ?", creators, id);

const stateOf = async (id: string) => {
  const sql =
    "select status, failure_reason, held_until, evaluated_at from deployments where id = ?";
  const row = await env.DB.prepare(sql).bind(id).first<Record<string, unknown>>();
  return row ?? {};
};

async function sweepAt(now: number) {
  const isolate = new Instrumented({ clock: { now: () => now } });
  const failure = await isolate.sweep().then(
    () => undefined,
    (error: unknown) => error,
  );
  return { isolate, failure };
}

const failuresOf = ({ logged }: Instrumented, event: string, { id }: World) =>
  logged.filter((each) => each.event === event && each.fields["organization_id"] === id);

describe("an organization with a deployment that cannot be evaluated", () => {
  it("keeps no other deployment from its evaluation, and is tried again by the next run", async () => {
    const [bad, good, foreign] = [
      await newHeld(broken),
      await newHeld(broken),
      await newHeld(other),
    ];
    await setCreators(bad.id, "{broken");
    for (const { id } of [bad, good, foreign]) {
      await run("update deployments set held_until = null, evaluated_at = null where id = ?", id);
    }
    const now = Date.now() + 60_000;
    const { isolate, failure } = await sweepAt(now);
    expect(failure).toBeUndefined();
    expect(failuresOf(isolate, "deployments.not_evaluated", broken)).toHaveLength(1);
    for (const { id } of [good, foreign]) {
      expect(await stateOf(id)).toMatchObject({ evaluated_at: now, status: "queued" });
      expect((await stateOf(id))["held_until"]).toBeGreaterThan(0);
    }
    expect(await stateOf(bad.id)).toMatchObject({ held_until: null, evaluated_at: now });
    const { isolate: next } = await sweepAt(now + 60_000);
    expect(failuresOf(next, "deployments.not_evaluated", broken)).toHaveLength(1);
    await setCreators(bad.id, "[]");
    await sweepAt(now + 120_000);
    expect(await stateOf(bad.id)).toMatchObject({ evaluated_at: now + 120_000 });
    expect((await stateOf(bad.id))["held_until"]).not.toBeNull();
  });

  it("keeps no approval of others from its expiry", async () => {
    const [bad, foreign] = [await newHeld(broken), await newHeld(other)];
    await setCreators(bad.id, "{broken");
    await sweepAt(Date.now() + 31 * DAY_MS);
    expect(await stateOf(foreign.id)).toMatchObject({
      status: "canceled",
      failure_reason: "approval_expired",
    });
    expect(await stateOf(bad.id)).toMatchObject({ status: "queued" });
  });
});

describe("an organization whose deployment cannot end", () => {
  it("keeps no lost runner of others from its end, and ends once it can", async () => {
    const [bad, foreign] = await Promise.all(
      [broken, other].map(async (world) => {
        const { project, environmentId, pool } = await newDeployableProject(world);
        await newIntegration(world.client, project.id, ["deployments_failed"]);
        const { id } = await newDeployment(world.client, environmentId);
        await Attempt.started(pool.runner);
        return { id: id as string, projectId: project.id as string };
      }),
    );
    const configure = "update integrations set configuration = ? where project_id = ?";
    await run(configure, "{broken", bad?.projectId);
    const now = Date.now() + 2 * LOST_AFTER_MS;
    const { isolate } = await sweepAt(now);
    expect(await stateOf(foreign?.id ?? "")).toMatchObject({ failure_reason: "runner_lost" });
    expect(await stateOf(bad?.id ?? "")).toMatchObject({ status: "in_progress" });
    expect(failuresOf(isolate, "sweep.failed", broken)).toHaveLength(1);
    await run(configure, JSON.stringify({ deployments_failed: true }), bad?.projectId);
    await sweepAt(now + 60_000);
    expect(await stateOf(bad?.id ?? "")).toMatchObject({ failure_reason: "runner_lost" });
  });
});

describe("the schedule", () => {
  it("ends what is lost before it evaluates what is held", async () => {
    await newHeld(other);
    const { isolate } = await sweepAt(Date.now() + 60_000);
    const first = (text: string) =>
      isolate.database.findIndex(({ statements }) =>
        statements.some(({ sql, params }) => `${sql} ${params.join(" ")}`.includes(text)),
      );
    expect(first("runner_lost")).toBeGreaterThanOrEqual(0);
    expect(first("runner_lost")).toBeLessThan(first(`"evaluated_at" < ?`));
  });

  it("charges each organization with what its evaluation reads", async () => {
    await Promise.all([newHeld(broken), newHeld(other)]);
    const charged = new Map<string, number>();
    const limiters = {
      getByName: (name: string) => ({
        charge: async ({ units }: { units: number }) => {
          charged.set(name, (charged.get(name) ?? 0) + units);
        },
      }),
    };
    const bindings = { ...env, ORGANIZATION_LIMITER: limiters } as unknown as Env;
    const execution = createExecutionContext();
    const clock = { now: () => Date.now() + 60_000 };
    await createApp({ clock, log: () => undefined }).sweep(bindings, execution);
    await waitOnExecutionContext(execution);
    for (const { id } of [broken, other]) expect(charged.get(id)).toBeGreaterThan(0);
    expect(charged.get((await newWorld()).id)).toBeUndefined();
  });
});
