import { expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { useShop } from "../../support/shop.ts";
import { newStack } from "../../support/world.ts";

const shop = useShop({});

it("a preview has the environment's variables and those of the stack's component, and not another component's", async () => {
  const { world, environmentId } = shop;
  const path = `/v1/environments/${environmentId}`;
  const stackId = await newStack(world.client, environmentId, "web");
  const addVariable = async (owner: string, name: string) => {
    const variable = { name, value: "v", storage_method: "string" };
    const added = await world.client.post(`${owner}/variables`, variable);
    expect(added.status, added.text).toBe(201);
  };
  const addComponent = async (name: string) => {
    const body = { name, kind: "service" };
    const { id } = (await world.client.post(`${path}/components`, body)).body;
    await addVariable(`/v1/components/${id}`, name);
    return id;
  };
  await addVariable(path, "shared");
  const own = await addComponent("own");
  await addComponent("other");
  const moved = await world.client.patch(`/v1/stacks/${stackId}`, { component_id: own });
  expect(moved.status).toBe(200);
  const names = ["shared", "own", "other"];
  const values = Object.fromEntries(
    names.map((name) => [name, ["${variables.", name, "}"].join("")]),
  );
  const configuration = { stacks: { web: { executor: "any", ...values } } };
  const put = await world.client.put(path, { name: "production", configuration });
  expect(put.status, put.text).toBe(200);
  const { body } = await world.client.post(`${path}/deployment-preview`, { stack_ids: [stackId] });
  const known = "The runner gets the variable when it starts.";
  expect(body.references.map(({ note }: Parsed) => note)).toEqual([
    known,
    known,
    "Neither the environment nor the stack's component has this variable.",
  ]);
});
