import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import {
  claimedBy,
  newFreeze,
  newProtectedEnvironment,
  type ProtectedEnvironment,
  protect,
} from "../../support/protection.ts";
import { newDeployment, newWorld, type World } from "../../support/world.ts";

let world: World;
let held: ProtectedEnvironment;

beforeEach(async () => {
  world = await newWorld();
  held = await newProtectedEnvironment(world, { group: "production" });
});

/** As the Worker of a release creates it that knows no rules. */
async function deployWithEarlierRelease(): Promise<string> {
  const { id } = await newDeployment(world.client, held.environmentId);
  await env.DB.prepare("update deployments set creators = null, held_until = null where id = ?")
    .bind(id)
    .run();
  return id;
}

const read = async (id: string): Promise<Parsed> =>
  (await world.client.get(`/v1/deployments/${id}`)).body;

async function sweep(): Promise<void> {
  const now = Date.now() + 1_000;
  await new Instrumented({ clock: { now: () => now } }).sweep();
}

describe("a deployment that an earlier release has created in a protected environment", () => {
  it("waits, says so, and starts neither by itself nor with other rules", async () => {
    const id = await deployWithEarlierRelease();
    expect((await read(id))["waiting_for"][0]).toEqual({
      code: "unknown_creator",
      message: "An earlier release has created it, which did not check the rules. Create it again.",
    });
    for (const rules of [{ group: "production" }, { access: { deploy: { role: "owner" } } }]) {
      await protect(world.client, held.environmentId, rules);
      await sweep();
      await sweep();
      expect(await claimedBy(held.pool)).toBeUndefined();
    }
  });

  it("starts with an override that names this, and no other", async () => {
    const id = await deployWithEarlierRelease();
    const override = (code: string) =>
      world.client.post(`/v1/deployments/${id}/override`, {
        reason: "It is known",
        conditions: [code],
      });
    expect((await override("approvals")).status).toBe(200);
    expect(await claimedBy(held.pool)).toBeUndefined();
    expect((await override("unknown_creator")).status).toBe(200);
    expect(await claimedBy(held.pool)).toBe(id);
  });

  it("is replaced by the same deployment from this release", async () => {
    await deployWithEarlierRelease();
    const { id } = await newDeployment(world.client, held.environmentId);
    expect((await read(id))["waiting_for"][0].code).toBe("runner");
    expect(await claimedBy(held.pool)).toBe(id);
  });

  it("starts where there are no rules, once no freeze holds it", async () => {
    await protect(world.client, held.environmentId, {});
    const path = `/v1/projects/${held.project.id}/freezes`;
    const starts_at = new Date(Date.now() - 1_000).toISOString();
    const { body: freeze } = await world.client.post(path, newFreeze({ starts_at }));
    const id = await deployWithEarlierRelease();
    await sweep();
    expect((await read(id))["waiting_for"][0].code).toBe("freeze");
    expect(await claimedBy(held.pool)).toBeUndefined();
    await world.client.delete(`/v1/freezes/${freeze.id}`);
    await sweep();
    expect(await claimedBy(held.pool)).toBe(id);
  });
});
