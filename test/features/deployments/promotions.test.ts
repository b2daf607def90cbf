import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { newIntegration } from "../../support/integrations.ts";
import { listDeliveries } from "../../support/outbox.ts";
import {
  connect,
  newDeployment,
  newInside,
  newProject,
  newStack,
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

it("promotes some stacks, in their order, for a reason, as its preview says", async () => {
  const { client } = await newWorld();
  const project = await newProject(client);
  const production = project.default_environment_id;
  const { body: staging } = await client.post(`/v1/projects/${project.id}/environments`, {
    name: "staging",
  });
  const ofStaging = await newStack(client, staging.id);
  const there: string[] = [];
  for (const name of ["web", "api", "jobs"]) {
    const { body } = await client.post(`/v1/environments/${production}/stacks`, { name });
    there.push(body.id);
  }
  const [web = "", api = "", jobs = ""] = there;
  const { id } = await newDeployment(client, staging.id);
  await env.DB.prepare("update deployments set status = 'succeeded' where id = ?").bind(id).run();
  const path = `/v1/deployments/${id}`;
  const promote = (body: object) =>
    client.post(`${path}/promote`, { environment_id: production, ...body });
  const preview = (query: string) => client.get(`${path}/promotion/${production}${query}`);

  const some = (await promote({ stack_ids: [jobs, web], reason: "Release 4" })).body;
  expect([some.stack_ids, some.reason]).toEqual([[jobs, web], "Release 4"]);
  for (const query of [`stack_ids=${jobs},${web}`, `stack_ids=${jobs}&stack_ids=${web}`]) {
    expect((await preview(`?${query}`)).body.stack_ids).toEqual([jobs, web]);
  }
  const all = (await promote({})).body;
  expect([all.stack_ids, all.reason]).toEqual([[web, api, jobs], undefined]);
  expect((await preview("")).body.stack_ids).toEqual([web, api, jobs]);

  const { client: stranger } = await newWorld();
  const { default_environment_id: elsewhere } = await newProject(stranger);
  for (const other of [ofStaging, await newStack(stranger, elsewhere), project.id]) {
    const missing = await promote({ stack_ids: [web, other] });
    expect([missing.status, missing.body.message]).toEqual([
      404,
      "There is no such stack in the environment.",
    ]);
  }
  expect((await preview(`?stack_ids=${ofStaging}`)).status).toBe(404);
  for (const body of [{ stack_ids: [web, web] }, { stack_ids: "web" }, { reason: " " }]) {
    expect((await promote(body)).status).toBe(400);
  }
  expect((await preview(`?stack_ids=${web},${web}`)).status).toBe(400);
  expect((await promote({ stack_ids: [] })).status).toBe(409);
});
