import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { listDeliveries } from "../../support/outbox.ts";
import {
  connect,
  newDeployment,
  newInside,
  newIntegration,
  newProject,
  newWorld,
} from "../../support/world.ts";

it("writes an event for a promotion when the new deployment is queued", async () => {
  const { client } = await newWorld();
  const project = await newProject(client);
  const production = project.default_environment_id;
  const { body: staging } = await client.post(`/v1/projects/${project.id}/environments`, {
    name: "staging",
  });
  for (const environment of [production, staging.id]) await newInside(client, environment);
  await connect(client, project.id);
  await newIntegration(client, project.id, ["promotions"]);
  const { id } = await newDeployment(client, staging.id);
  const promote = () =>
    client.post(`/v1/deployments/${id}/promote`, { environment_id: production });

  expect((await promote()).status).toBe(409);
  await env.DB.prepare("update deployments set status = 'succeeded' where id = ?").bind(id).run();
  await client.patch(`/v1/projects/${project.id}/disconnect`);
  expect((await promote()).status).toBe(409);
  expect(await listDeliveries(project.id)).toEqual([]);

  await connect(client, project.id);
  const { body: made } = await promote();
  await client.post(`/v1/deployments/${id}/redeploy`, undefined);
  const events = await listDeliveries(project.id);
  expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
    {
      type: "promotions.created",
      data: {
        deployment_id: made.id,
        from_deployment_id: id,
        project: { id: project.id, name: "storefront" },
        environment: { id: production, name: "production" },
        from_environment: { id: staging.id, name: "staging" },
      },
    },
  ]);
});
