import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { canonicalId } from "../../../src/lib/ids.ts";
import type { Parsed } from "../../support/client.ts";
import { clearOutbox } from "../../support/delivery-harness.ts";
import { listDeliveries } from "../../support/outbox.ts";
import { Attempt } from "../../support/runner.ts";
import {
  connect,
  newDeployment,
  newInside,
  newIntegration,
  newPool,
  newProject,
  newWorld,
} from "../../support/world.ts";

it("writes the events of a deployment once for each integration that wants them", async () => {
  const world = await newWorld();
  const project = await newProject(world.client);
  const environmentId = project.default_environment_id;
  await connect(world.client, project.id);
  const { stack_id } = await newInside(world.client, environmentId);
  const kinds = ["deployments_in_progress", "deployments_failed", "deployments_succeeded"];
  const { id: all } = await newIntegration(world.client, project.id, kinds);
  const { id: some } = await newIntegration(world.client, project.id, ["deployments_failed"]);
  const pool = await newPool(world, [environmentId]);

  const { id } = await newDeployment(world.client, environmentId);
  expect(await listDeliveries(project.id)).toEqual([]);
  const attempt = await Attempt.started(pool.runner);
  await attempt.complete("failed", { failure_reason: "tests_failed" });

  const [begun, ...ends] = await listDeliveries(project.id);
  expect(begun).toMatchObject({ integration_id: all, type: "deployments.in_progress" });
  expect(ends.map(({ integration_id }) => integration_id)).toEqual([all, some].toSorted());
  expect(ends.map(({ type }) => type)).toEqual(["deployments.failed", "deployments.failed"]);
  expect(ends[0]?.event_id).toBe(ends[1]?.event_id);
  const ids = [begun, ...ends].flatMap((row) => [row?.id, row?.event_id]);
  expect(ids.map((each) => canonicalId(String(each)))).toEqual(ids);
  expect(begun?.data).toEqual({
    deployment_id: id,
    status: "in_progress",
    project: { id: project.id, name: "storefront" },
    environment: { id: environmentId, name: "production" },
    stacks: [{ id: stack_id, name: expect.any(String), status: "pending" }],
  });
  expect(ends[0]?.data).toMatchObject({
    status: "failed",
    failure_reason: "tests_failed",
    stacks: [{ status: "skipped" }],
  });
});

it("tells of a deployment in less than 20 KB, however long its names and however many its stacks", async () => {
  const world = await newWorld();
  const project = await newProject(world.client, { name: "界".repeat(100) });
  const environmentId = project.default_environment_id;
  await connect(world.client, project.id);
  for (let at = 10; at < 40; at += 1) {
    const name = `${at}${"界".repeat(126)}`;
    await world.client.post(`/v1/environments/${environmentId}/stacks`, { name });
  }
  await newIntegration(world.client, project.id, ["deployments_failed"]);
  const pool = await newPool(world, [environmentId]);
  await newDeployment(world.client, environmentId);
  const attempt = await Attempt.started(pool.runner);
  await attempt.complete("failed", { failure_reason: "界".repeat(200) });

  const [failed] = await listDeliveries(project.id);
  const { data } = failed ?? {};
  expect((data as Parsed).stacks).toHaveLength(25);
  expect(new TextEncoder().encode(JSON.stringify(data)).length).toBeLessThan(19_000);
});

it("writes nothing for an integration that is disabled", async () => {
  const { client } = await newWorld();
  const project = await newProject(client);
  const { id: enabled } = await newIntegration(client, project.id, ["changelog"]);
  const { id: disabled } = await newIntegration(client, project.id, ["changelog"]);
  await env.DB.prepare("update integrations set disabled_at = 1 where id = ?").bind(disabled).run();
  await clearOutbox();
  await client.post(`/v1/projects/${project.id}/environments`, { name: "staging" });
  expect(await listDeliveries(project.id)).toMatchObject([{ integration_id: enabled }]);
});
