import { expect, it } from "vitest";
import { createClient, type Schemas } from "../../../packages/client/src/index.ts";
import { listPages } from "../../../scripts/seed/demo/pages.ts";
import { tellStory } from "../../../scripts/seed/demo/story.ts";
import { openPage, waitUntilLoaded } from "../support/console.ts";
import { useService } from "../support/service.ts";

const service = useService();

it("the demo has a week of deployments, one that failed, and all that a person may have to do", async () => {
  const { key } = service.owner;
  const demo = await tellStory(service.d1, service.url.origin, key);
  const client = createClient({ url: service.url.href, apiKey: key });

  const deployments: Schemas["Deployment"][] = [];
  const projects = await client.get("/v1/projects");
  for (const { id } of projects.data) {
    const overview = await client.get("/v1/projects/{project_id}/overview", {
      path: { project_id: id },
    });
    for (const { id: environment_id } of overview.data) {
      const path = { environment_id };
      for await (const each of client.list("/v1/environments/{environment_id}/deployments", {
        path,
      })) {
        deployments.push(each);
      }
    }
  }
  const count = (status: string) => deployments.filter((each) => each.status === status).length;
  expect([count("succeeded"), count("failed"), count("queued")]).toEqual([17, 2, 1]);
  const people = new Set(deployments.map(({ created_by }) => created_by?.name));
  expect(people.size).toBe(3);
  const oldest = Math.min(...deployments.map(({ created_at }) => Date.parse(created_at)));
  expect(oldest).toBeLessThan(Date.now() - 4 * 86_400_000);

  const insights = await client.get("/v1/projects/{project_id}/insights", {
    path: { project_id: demo.project.id },
    query: { days: 30 },
  });
  const eu = insights.data.find(({ id }) => id === demo.environments.eu);
  expect(eu?.days.length).toBeGreaterThanOrEqual(5);
  expect(eu?.days[0]?.run_seconds?.median).toBeGreaterThan(50);

  const { page } = await openPage(new URL("/console/", service.pages), { apiKey: key });
  await waitUntilLoaded(page);
  const attention = page.getByRole("list", { name: "Needs attention" });
  await attention.getByText("high-latency").waitFor();
  await attention.getByRole("link", { name: "billing / production" }).waitFor();
  await attention.getByRole("link", { name: "storefront / production-eu" }).waitFor();
  // The project with the newest deployment is the first.
  const names = await page
    .getByRole("list", { name: "Projects" })
    .getByRole("heading")
    .allTextContents();
  expect(names.map((name) => name.slice(1))).toEqual(["storefront", "billing", "search"]);

  for (const { path } of await listPages(demo, client)) {
    await page.goto(new URL(`/console/${path}`, service.pages).href);
    await waitUntilLoaded(page);
  }
});
