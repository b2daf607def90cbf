import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Schemas } from "../../../packages/client/src/index.ts";
import { openPage, waitUntilLoaded } from "../support/console.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { invite } from "../support/invited-member.ts";
import { useService } from "../support/service.ts";

const service = useService();

async function open(path: string, apiKey: string) {
  const url = new URL(`/console/${path}`, service.pages);
  const opened = await openPage(url, { apiKey, reducedMotion: "reduce" });
  await waitUntilLoaded(opened.page);
  return opened;
}

const rollBackIn = (page: Page) => page.getByRole("button", { name: /^Roll back to/ });

const COMMIT: Schemas["DeploymentSource"] = {
  git: {
    commit: {
      ...{ author: {}, committer: {} },
      message: "Raise the number of replicas",
      sha: "9f56614aa9d5e14b7f8a90b1c2d3e4f5a6b7c8d9",
    },
    ...{ provider: "github", installation_id: "1", repo_id: "2", owner: "acme", repo: "shop" },
    ref: "main",
  },
};

const image = (tag: string): Schemas["DeploymentSource"] => ({
  registry: { image: `ghcr.io/acme/shop${tag}` },
});

/** Deployments that have ended, the oldest first. */
async function makeEnvironment(
  ...deployments: [Schemas["CreateDeployment"], "succeeded" | "failed"][]
) {
  const environment = await DeployedEnvironment.make(service);
  const ids: string[] = [];
  for (const [body, outcome] of deployments) {
    ids.push((await environment.deploy(body)).id);
    await environment.run(outcome);
  }
  return { environment, ids, path: `environments/${environment.id}` };
}

describe("Roll back on the page of an environment", () => {
  it("shows what it would change, and deploys the last success before the current deployment", async () => {
    const replicas = (op: "add" | "replace", value: number) => [
      { op, path: "/replicas", value } as const,
    ];
    const { environment, ids, path } = await makeEnvironment(
      [{ source: COMMIT, patch: replicas("add", 2) }, "succeeded"],
      [{ source: image(":2"), patch: replicas("replace", 3) }, "succeeded"],
    );
    await environment.client.put("/v1/environments/{environment_id}/variables", {
      path: { environment_id: environment.id },
      body: {
        mode: "merge",
        variables: [{ name: "LEVEL", storage_method: "secret", value: "canary" }],
      },
    });
    const rules = { approvals: { required: 1, approvers: { role: "owner" } } };
    await service.owner.call("PUT", `/v1/environments/${environment.id}/protection`, rules);
    const { page } = await open(path, environment.apiKey);
    await page.getByRole("button", { name: /^Roll back to 9f56614, \S/ }).click();
    const dialog = page.getByRole("dialog", { name: "Roll back to 9f56614" });
    await dialog.getByText("Changed since that deployment: LEVEL.").waitFor();
    await dialog.getByRole("link", { name: "acme/shop main · 9f56614" }).waitFor();
    await dialog.getByText("web, worker", { exact: true }).waitFor();
    await dialog.getByText("/replicas 3").waitFor();
    await dialog.getByText("/replicas 2").waitFor();
    const obstacles = dialog.getByRole("region", { name: "Before it starts" });
    await obstacles.getByText(/1 approval/).waitFor();
    const target = dialog.getByRole("link", { name: /^succeeded / });
    expect(await target.getAttribute("href")).toBe(`/console/deployments/${ids[0]}`);
    expect(await environment.list()).toHaveLength(2);
    await dialog.getByRole("button", { name: "Roll back", exact: true }).click();
    await page.locator("h1 ~ .status", { hasText: "Queued" }).waitFor();
    const [created] = await environment.list();
    expect(created).toMatchObject({ trigger: "rollback", from_deployment_id: ids[0] });
    expect(page.url()).toContain(created?.id);
  });

  it("names the queued deployments that it supersedes, and is in the palette", async () => {
    const { environment, ids, path } = await makeEnvironment([
      { source: image("@sha256:b94d27b9934d3e08a52e52d7da7dabfa") },
      "succeeded",
    ]);
    const { id } = await environment.deploy();
    const { page } = await open(path, environment.apiKey);
    await page.getByRole("button", { name: /^Roll back to shop@b94d27b, \S/ }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("roll back");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Roll back to shop@b94d27b" });
    const superseded = dialog.getByRole("link", { name: id });
    expect(await superseded.getAttribute("href")).toBe(`/console/deployments/${id}`);
    const target = dialog.getByRole("link", { name: /^succeeded / });
    expect(await target.getAttribute("href")).toBe(`/console/deployments/${ids[0]}`);
  });

  it("is there as soon as there is something to go back to, called by its reason without a source", async () => {
    const reason = `Black Friday ${"and the days after ".repeat(3)}`;
    const { environment, path } = await makeEnvironment([{ reason }, "succeeded"]);
    const { page } = await open(path, environment.apiKey);
    await page.getByRole("button", { name: "Deploy", exact: true }).waitFor();
    await page.waitForLoadState("networkidle");
    expect(await rollBackIn(page).count()).toBe(0);
    await environment.deploy();
    await environment.run("succeeded");
    const name = /^Roll back to Black Friday and the days after…, \S/;
    await page.getByRole("button", { name }).waitFor();
    await environment.deploy();
    await environment.run("failed");
    await page.getByRole("button", { name: /^Roll back to the deployment from \S/ }).waitFor();
  });

  it("is not offered to whom the role or a rule of the environment keeps from deploying", async () => {
    const { environment, path } = await makeEnvironment([{}, "succeeded"], [{}, "succeeded"]);
    const { projectId, id } = environment;
    const vera = await invite(service, "Vera Viewer", { projectId, role: "viewer" });
    const mona = await invite(service, "Mona Maker", { projectId, role: "contributor" });
    const expectOffered = async (key: string, count: number) => {
      const { page } = await open(path, key);
      await page.getByRole("list", { name: "Deployments" }).waitFor();
      await page.waitForLoadState("networkidle");
      await expect.poll(() => rollBackIn(page).count()).toBe(count);
    };
    await expectOffered(vera.client.key, 0);
    await expectOffered(mona.client.key, 1);
    const rules = { access: { deploy: { role: "owner" } } };
    await service.owner.call("PUT", `/v1/environments/${id}/protection`, rules);
    await expectOffered(mona.client.key, 0);
    await expectOffered(environment.apiKey, 1);
  });
});

describe("Roll back on the page of a deployment", () => {
  it("is there if it failed, and nothing has started since", async () => {
    const { environment, ids } = await makeEnvironment(
      [{ source: image(":1") }, "succeeded"],
      [{ source: image(":2") }, "failed"],
      [{ source: image(":3") }, "failed"],
    );
    const { page } = await open(`deployments/${ids[2]}`, environment.apiKey);
    await page.getByRole("button", { name: /^Roll back to shop:1, \S/ }).click();
    const dialog = page.getByRole("dialog", { name: "Roll back to shop:1" });
    await dialog.getByText("ghcr.io/acme/shop:1").waitFor();
    await dialog.getByRole("button", { name: "Roll back", exact: true }).click();
    await page.locator("h1 ~ .status", { hasText: "Queued" }).waitFor();
    for (const id of [ids[0], ids[1]]) {
      await page.goto(new URL(`/console/deployments/${id}`, service.pages).href);
      await page.getByRole("button", { name: "Redeploy" }).waitFor();
      await page.waitForLoadState("networkidle");
      expect(await rollBackIn(page).count()).toBe(0);
    }
  });
});

describe("Roll back in the pipeline of a project", () => {
  it("is in the column of each environment that has something to go back to", async () => {
    const { environment, ids } = await makeEnvironment(
      [{ source: image(":1") }, "succeeded"],
      [{ source: image(":2") }, "succeeded"],
    );
    const { page } = await open(`projects/${environment.projectId}`, environment.apiKey);
    await page.getByRole("button", { name: /^Roll back to shop:1, .+ in staging$/ }).click();
    expect(await rollBackIn(page).count()).toBe(1);
    const dialog = page.getByRole("dialog", { name: "Roll back to shop:1" });
    await dialog.getByText("to staging again").waitFor();
    await dialog.getByRole("button", { name: "Roll back", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "ghcr.io/acme/shop:1" }).waitFor();
    const [created] = await environment.list();
    expect(created).toMatchObject({ trigger: "rollback", from_deployment_id: ids[0] });
  });
});

describe("the list of deployments", () => {
  it("marks what is live: the newest success alone, also with filters", async () => {
    const { environment, path } = await makeEnvironment(
      [{ source: image(":1") }, "succeeded"],
      [{ source: image(":2") }, "succeeded"],
      [{ source: image(":3") }, "failed"],
    );
    const { page } = await open(path, environment.apiKey);
    const rows = page.getByRole("list", { name: "Deployments" }).getByRole("listitem");
    const live = rows.filter({ has: page.getByText("Live", { exact: true }) });
    const expectLive = (links: string[]) =>
      expect.poll(() => live.getByRole("link").allTextContents()).toEqual(links);
    await expectLive(["ghcr.io/acme/shop:2"]);
    await page.getByLabel("Status").selectOption("succeeded");
    await expect.poll(() => rows.count()).toBe(2);
    await expectLive(["ghcr.io/acme/shop:2"]);
    await page.getByLabel("Status").selectOption("");
    await page.getByLabel("Source").fill("shop:1");
    await expect.poll(() => rows.count()).toBe(1);
    await expectLive([]);
    await environment.deploy({ source: image(":4") });
    await environment.run("succeeded");
    await page.getByLabel("Source").fill("");
    await expectLive(["ghcr.io/acme/shop:4"]);
  });
});
