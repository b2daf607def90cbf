import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { newDeployableProject, newDeployment, newWorld, type World } from "../../support/world.ts";

let world: World;
let environmentId: string;

beforeAll(async () => {
  world = await newWorld();
  ({ environmentId } = await newDeployableProject(world));
});

async function put(configuration: object): Promise<void> {
  const { status } = await world.client.put(`/v1/environments/${environmentId}`, {
    name: "production",
    configuration,
  });
  expect(status).toBe(200);
}

async function changeOf(id: string): Promise<Parsed> {
  const { status, body } = await world.client.get(`/v1/deployments/${id}/configuration`);
  expect(status).toBe(200);
  return body;
}

describe("the configuration of a deployment", () => {
  it("is shown before and after, with one operation for each value that differs", async () => {
    await put({ replicas: 2, region: "eu", tags: ["a", "b"], old: { deep: true } });
    const { id } = await newDeployment(world.client, environmentId, {
      patch: [
        { op: "test", path: "/region", value: "eu" },
        { op: "replace", path: "/replicas", value: 5 },
        { op: "replace", path: "/replicas", value: 3 },
        { op: "add", path: "/tags/0", value: "first" },
        { op: "remove", path: "/tags/2" },
        { op: "move", from: "/old", path: "/new" },
      ],
    });
    // What happens to the environment afterwards is not a part of the deployment.
    await put({ replicas: 9 });
    const { before, after, diff } = await changeOf(id);
    expect(before).toEqual({ replicas: 2, region: "eu", tags: ["a", "b"], old: { deep: true } });
    expect(after).toEqual({ replicas: 3, region: "eu", tags: ["first", "a"], new: { deep: true } });
    expect(diff).toHaveLength(4);
    expect(diff).toEqual(
      expect.arrayContaining([
        { op: "replace", path: "/replicas", value: 3, old_value: 2 },
        { op: "replace", path: "/tags", value: ["first", "a"], old_value: ["a", "b"] },
        { op: "remove", path: "/old", old_value: { deep: true } },
        { op: "add", path: "/new", value: { deep: true } },
      ]),
    );
  });

  it("has an empty difference if nothing changes", async () => {
    await put({ "a/b": 1, __proto__: 2 });
    const { id } = await newDeployment(world.client, environmentId, {});
    expect(await changeOf(id)).toEqual({ before: { "a/b": 1 }, after: { "a/b": 1 }, diff: [] });
  });

  it("lacks what was before if the old values were not recorded, and everything once it is cleared", async () => {
    await put({ replicas: 2 });
    const { id } = await newDeployment(world.client, environmentId, {
      patch: [{ op: "replace", path: "/replicas", value: 3 }],
    });
    const set = (column: string, value: string) =>
      env.DB.prepare(`update deployments set ${column} = ? where id = ?`).bind(value, id).run();
    await set("patch", JSON.stringify([{ op: "replace", path: "/replicas", value: 3 }]));
    expect(await changeOf(id)).toEqual({ after: { replicas: 3 } });
    await set("configuration", "");
    expect(await changeOf(id)).toEqual({});
  });

  it("has a bounded difference, whose old values are left out where they would exceed it", async () => {
    const items = Array.from({ length: 200 }, (_, index) => `${index} ${"x".repeat(1_000)}`);
    await put({ items });
    const { id } = await newDeployment(world.client, environmentId, {
      patch: [{ op: "replace", path: "/items/7", value: "changed" }],
    });
    const { before, after, diff } = await changeOf(id);
    expect(before).toEqual({ items });
    expect(after).toEqual({ items: items.with(7, "changed") });
    expect(diff).toEqual([{ op: "replace", path: "/items", value: after.items }]);
  });
});
