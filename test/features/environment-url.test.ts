import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../support/client.ts";
import { useShop } from "../support/shop.ts";
import { newProject, newStack } from "../support/world.ts";

const shop = useShop();
let ids: Record<"api" | "infra" | "web", string>;

beforeEach(async () => {
  const create = (name: string) => newStack(shop.world.client, shop.environmentId, name);
  ids = { web: await create("web"), api: await create("api"), infra: await create("infra") };
});

/** Deploys a stack until it has succeeded, with this URL. */
async function succeed(stackId: string, url: string): Promise<void> {
  await shop.deploy({ stack_ids: [stackId] });
  const attempt = await shop.start();
  const outputs = [{ name: "url", value: url }];
  await attempt.report(stackId, { seq: 1, status: "succeeded", outputs });
  await attempt.complete("succeeded");
}

describe("the URL of an environment", () => {
  it("is that of the chosen stack, or else of the one that has last reported one", async () => {
    const url = async () => {
      const { world, project, environmentId } = shop;
      const overview = await world.client.get(`/v1/projects/${project.id}/overview`);
      return overview.body.data.find((each: Parsed) => each["id"] === environmentId).url;
    };
    await succeed(ids.api, "https://api.example.com");
    await succeed(ids.web, "https://web.example.com");
    expect(await url()).toBe("https://web.example.com");
    const { world, environment: path } = shop;
    const chosen = await world.client.patch(path, { url_stack_id: ids.api });
    expect([chosen.status, chosen.body.url_stack_id]).toEqual([200, ids.api]);
    expect(await url()).toBe("https://api.example.com");
    await world.client.patch(path, { url_stack_id: ids.infra });
    expect(await url()).toBe("https://web.example.com");
    const renamed = await world.client.put(path, { name: "production", configuration: { a: 1 } });
    expect(renamed.body.url_stack_id).toBe(ids.infra);
    expect((await world.client.delete(`/v1/stacks/${ids.infra}`)).status).toBe(204);
    expect((await world.client.get(path)).body.url_stack_id).toBeUndefined();
    await world.client.patch(path, { url_stack_id: ids.api, name: "live" });
    const cleared = await world.client.patch(path, { url_stack_id: null });
    expect([cleared.body.url_stack_id, cleared.body.name]).toEqual([undefined, "live"]);
    expect(await url()).toBe("https://web.example.com");
  });

  it("is of a stack of the environment", async () => {
    const { world, environment: path } = shop;
    const other = await newProject(world.client, { name: "other" });
    const foreign = await newStack(world.client, other.default_environment_id, "foreign");
    const reply = await world.client.patch(path, { url_stack_id: foreign, name: "renamed" });
    expect(reply.status).toBe(404);
    expect((await world.client.get(path)).body).toMatchObject({ name: "production" });
  });
});
