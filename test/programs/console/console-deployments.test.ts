import { describe, expect, it } from "vitest";
import type { Schemas } from "../../../packages/client/src/index.ts";
import { openPage, waitUntilLoaded } from "../support/console.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { RunnerFixture } from "../support/fixture.ts";

const fixture = RunnerFixture.use();

const at = (path: string) => new URL(`/console/${path}`, fixture.service.pages);

/** A commit whose hash repeats two digits. */
const commit = (digits: string, message: string): Schemas["DeploymentSource"] => ({
  git: {
    commit: { ...{ author: {}, committer: {} }, message, sha: digits.repeat(20) },
    ...{ provider: "github", installation_id: "1", repo_id: "2", owner: "acme", repo: "shop" },
    ref: "refs/heads/main",
  },
});

describe("a deployment in the console", () => {
  it("goes from a click to succeeded, with the log of a real runner", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const path = `environments/${project.environmentId}`;
    const { page } = await openPage(at(path), { apiKey: project.key });
    await waitUntilLoaded(page);
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    const dialog = page.getByRole("dialog");
    const obstacles = dialog.getByRole("region", { name: "Before it starts" });
    await obstacles.getByText(/^No runner of the pool ".+" has asked for work/).waitFor();
    const pool = obstacles.getByRole("listitem").getByRole("link").first();
    expect(await pool.getAttribute("href")).toMatch(/^\/console\/runners\/[0-9A-Za-z]{22}$/);
    await dialog.getByLabel("Image").fill("shop:42");
    await dialog
      .getByLabel("Changes to the configuration")
      .fill('[{"op": "add", "path": "/replicas", "value": 3}]');
    await dialog.getByRole("button", { name: "Deploy" }).click();
    await page.locator("h1 ~ .status", { hasText: "Queued" }).waitFor();
    run("echo compiled in \\\\e[32mgreen\\\\e[0m for $LONGSHORE_STACK", "--once");
    await page.locator("h1 ~ .status.good", { hasText: "Succeeded" }).waitFor();
    const log = page.getByRole("log");
    for (const stack of project.stackIds) await log.getByText(stack).waitFor();
    await page.locator('[role="status"]', { hasText: "succeeded" }).waitFor();
    const id = page.url().split("/").at(-1) ?? "";
    expect((await project.read(id)).status).toBe("succeeded");
    await page.getByRole("link", { name: "Changes" }).click();
    await page.getByText("/replicas 3").waitFor();
  });

  it("links to its URL once it has succeeded, as the environment and the stack do", async () => {
    const environment = await DeployedEnvironment.make(fixture.service);
    const { id } = await environment.deploy();
    const { apiKey } = environment;
    const { page } = await openPage(at(`deployments/${id}`), { apiKey });
    const started = await environment.start();
    const url = "https://shop.example.com/?a=1#b";
    await started.report(0, "succeeded", undefined, { url, "bucket.name": "shop <3 \u202eb" });
    const link = page.getByRole("link", { name: url });
    await page.getByText("In progress").first().waitFor();
    await started.complete("succeeded");
    const attributes = () =>
      Promise.all(["href", "target", "rel"].map((name) => link.getAttribute(name)));
    const expected = [url, "_blank", "noopener noreferrer"];
    expect(await attributes()).toEqual(expected);
    for (const path of [
      `environments/${environment.id}`,
      `environments/${environment.id}/stacks`,
    ]) {
      await page.goto(at(path).href);
      expect(await attributes()).toEqual(expected);
    }
    await page.goto(at(`stacks/${started.stackIds[0]}`).href);
    expect(await attributes()).toEqual(expected);
    const row = page.getByRole("row", { name: "bucket.name" });
    await expect.poll(() => row.getByRole("cell").allTextContents()).toEqual(["shop <3 \\u202eb"]);
  });

  it("shows a URL that people must not follow as text", async () => {
    const environment = await DeployedEnvironment.make(fixture.service);
    const { apiKey } = environment;
    const { id } = await environment.deploy();
    await environment.run("succeeded");
    const { data } = await environment.client.get("/v1/environments/{environment_id}/stacks", {
      path: { environment_id: environment.id },
    });
    const { page } = await openPage(at(""), { apiKey });
    const paths = [`deployments/${id}`, `environments/${environment.id}`, `stacks/${data[0]?.id}`];
    // The service accepts none of them. What it sends is not trusted nevertheless.
    for (const url of ["javascript:alert(1)", "https://mona:x@example.com", "https://a b.de/"]) {
      const write = "update stacks set outputs = json_object('url', ?1) where environment_id = ?2";
      await fixture.service.d1.prepare(write).bind(url, environment.id).run();
      for (const path of paths) {
        await page.goto(at(path).href);
        await page.getByText(url).first().waitFor();
        expect(await page.getByRole("link", { name: url }).count()).toBe(0);
      }
    }
  });

  it("is canceled with a click and a confirmation", async (context) => {
    const { project } = await fixture.prepare(context);
    const { id } = await project.deploy();
    const { page } = await openPage(at(`deployments/${id}`), {
      apiKey: project.key,
    });
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    expect((await project.read(id)).status).toBe("queued");
    await page.getByRole("button", { name: "Cancel the deployment" }).click();
    await page.locator("h1 ~ .status", { hasText: "Canceled" }).waitFor();
    expect((await project.read(id)).status).toBe("canceled");
    expect(await page.getByRole("button", { name: "Cancel", exact: true }).count()).toBe(0);
  });

  it("is promoted as its preview shows", async () => {
    const source = await DeployedEnvironment.make(fixture.service);
    const { id } = await source.deploy({ patch: [{ op: "add", path: "/replicas", value: 7 }] });
    await source.client.post("/v1/environments/{environment_id}/variables", {
      path: { environment_id: source.id },
      body: { name: "LEVEL", storage_method: "string", value: "canary" },
    });
    await source.run("succeeded");
    const { page } = await openPage(at(`deployments/${id}`), {
      apiKey: source.apiKey,
    });
    await page.getByRole("button", { name: "Promote" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("/replicas 7").waitFor();
    const variables = dialog.getByRole("region", { name: "Variables" });
    await expect
      .poll(() => variables.getByRole("row").allTextContents())
      .toEqual(["Nameproductionstaging", "LEVELmissinghas it"]);
    await dialog.getByRole("button", { name: "Promote" }).click();
    await page.locator("h1", { hasText: "Deployment to production" }).waitFor();
    expect(page.url()).not.toContain(id);
    await page.getByRole("link", { name: "Changes" }).click();
    await page.getByText("/replicas 7").waitFor();
  });

  it("is redeployed as its preview shows, which names the variables that have changed since", async () => {
    const source = await DeployedEnvironment.make(fixture.service);
    const write = (name: string, value: string) =>
      source.client.put("/v1/environments/{environment_id}/variables", {
        path: { environment_id: source.id },
        body: { mode: "merge", variables: [{ name, storage_method: "secret", value }] },
      });
    for (const name of ["KEPT", "LEVEL"]) await write(name, "canary of before");
    const { id } = await source.deploy();
    await source.run("succeeded");
    for (const name of ["LEVEL", "NEW"]) await write(name, "canary of now");
    const { page } = await openPage(at(`deployments/${id}`), {
      apiKey: source.apiKey,
    });
    await page.getByRole("button", { name: "Redeploy" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Changed since that deployment: LEVEL, NEW.").waitFor();
    expect(await dialog.textContent()).not.toContain("canary");
    await dialog.getByRole("button", { name: "Redeploy" }).click();
    await page.locator("h1 ~ .status", { hasText: "Queued" }).waitFor();
    expect(page.url()).not.toContain(id);
  });

  it("shows on one timeline who requested it, what ran when, and how it ended", async () => {
    const source = await DeployedEnvironment.make(fixture.service);
    const { id } = await source.deploy();
    const started = await source.start();
    await started.report(0, "in_progress");
    const { page } = await openPage(at(`deployments/${id}/timeline`), { apiKey: source.apiKey });
    const timeline = page.getByRole("list", { name: "Timeline" });
    const bars = timeline.getByRole("img");
    const names = () =>
      bars.evaluateAll((all) => all.map((each) => each.getAttribute("aria-label")));
    const running = / from \d+ s to \d+ s after the creation, not ended yet$/;
    const ended = / from \d+ s to \d+ s after the creation$/;
    await expect
      .poll(names)
      .toEqual([
        expect.stringMatching(/^Queued: from 0 s to \d+ s after the creation$/),
        expect.stringMatching(running),
        expect.stringMatching(/^web: .*, not ended yet$/),
      ]);
    const before = (await names())[2];
    await expect.poll(async () => (await names())[2]).not.toBe(before);
    await started.report(0, "succeeded");
    await started.report(1, "failed", "The name is taken");
    await started.complete("failed");
    await page.locator("h1 ~ .status.bad").waitFor();
    const all = ["Queued", "Run", "web", "worker"];
    await expect
      .poll(names)
      .toEqual(all.map((name) => expect.stringMatching(new RegExp(`^${name}:${ended.source}`))));
    const rows = timeline.getByRole("listitem");
    const firstWords = (text: string) => text.split(/\d|Succeeded|just/)[0];
    expect((await rows.allTextContents()).map(firstWords)).toEqual([
      expect.stringMatching(/^Requested by /),
      "Started",
      "web",
      "worker",
      "Failed",
    ]);
    // It has waited for an hour: its bar leaves most of the width to what ran.
    await fixture.service.d1
      .prepare("update deployments set created_at = created_at - 3600000 where id = ?1")
      .bind(id)
      .run();
    await page.reload();
    await page.getByText("Queue time not to scale.").waitFor();
    const widths = await bars
      .filter({ has: page.locator(".shortened") })
      .evaluate((bar) => (bar.firstElementChild?.clientWidth ?? 0) / bar.clientWidth);
    expect(widths).toBeCloseTo(0.3, 1);
  });

  it("shows what has changed since the previous success, with a link to compare the commits, and leads to both neighbors", async () => {
    const source = await DeployedEnvironment.make(fixture.service);
    const write = (name: string, value: string) =>
      source.client.put("/v1/environments/{environment_id}/variables", {
        path: { environment_id: source.id },
        body: { mode: "merge", variables: [{ name, storage_method: "secret", value }] },
      });
    for (const name of ["KEPT", "LEVEL"]) await write(name, "canary of before");
    const first = await source.deploy({ source: commit("aa", "Say hello") });
    await source.run("succeeded");
    await write("NEW", "canary of now");
    await source.deploy();
    await source.run("failed");
    const patch = [{ op: "add", path: "/replicas", value: 3 } as const];
    const { id } = await source.deploy({ source: commit("bb", "Say goodbye"), patch });
    await source.run("succeeded");
    const { page } = await openPage(at(`deployments/${id}`), { apiKey: source.apiKey });
    await page.getByRole("heading", { level: 1, name: "Say goodbye" }).waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    const summary = page.getByRole("list", { name: "Summary" });
    const parts = summary.getByRole("listitem");
    expect((await parts.allTextContents()).slice(0, 3)).toEqual([
      "acme/shop",
      "main",
      "bbbbbbb Copy",
    ]);
    await page.getByRole("link", { name: "Changes" }).click();
    const compare = page.getByRole("link", { name: "Compare the commits" });
    expect(await compare.getAttribute("href")).toBe(
      `https://github.com/acme/shop/compare/${"aa".repeat(20)}...${"bb".repeat(20)}`,
    );
    await page.getByText("/replicas 3").waitFor();
    await page.getByText("Changed since the previous success: NEW", { exact: true }).waitFor();
    expect(await page.getByText("after this deployment").count()).toBe(0);
    await page.goto(at(`deployments/${first.id}/changes`).href);
    await page.getByText("Nothing yet").waitFor();
    await write("LEVEL", "canary of later");
    await page.goto(at(`deployments/${id}/changes`).href);
    await page.getByText("Changed after this deployment, and perhaps before: LEVEL").waitFor();
    expect(await page.getByRole("main").textContent()).not.toContain("canary");
    await page.getByRole("link", { name: "Previous", exact: true }).click();
    await page.locator("h1 ~ .status.bad").waitFor();
    await page.getByRole("link", { name: "Previous", exact: true }).click();
    await page.waitForURL(`**/${first.id}`);
    await page.getByRole("link", { name: "Next", exact: true }).waitFor();
    expect(await page.getByText("Live", { exact: true }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Previous", exact: true }).count()).toBe(0);
  });

  it("that would be refused has no button to confirm it, and says why", async () => {
    const source = await DeployedEnvironment.make(fixture.service);
    const { id } = await source.deploy();
    await source.run("failed");
    const path = { project_id: source.projectId };
    await source.client.patch("/v1/projects/{project_id}/disconnect", { path });
    const { page } = await openPage(at(`deployments/${id}`), {
      apiKey: source.apiKey,
    });
    await page.getByRole("button", { name: "Redeploy" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("has disconnected the project").waitFor();
    expect(await dialog.getByRole("button", { name: "Redeploy" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "Promote" }).count()).toBe(0);
  });
});

describe("a queued deployment in the console", () => {
  it("says what it waits for, and says something else once that changes", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { id: first } = await project.deploy({ queue: "fifo" });
    const { id } = await project.deploy({ queue: "fifo" });
    const path = at(`deployments/${id}`);
    const { page } = await openPage(path, { apiKey: project.key });
    const reasons = page.getByRole("list", { name: "Waiting for" });
    await reasons.getByText("has asked for work in the last 5 minutes: start one.").waitFor();
    const earlier = reasons.getByRole("link", { name: "The deployment" });
    expect(await earlier.getAttribute("href")).toBe(`/console/deployments/${first}`);
    const pool = reasons.getByRole("link", { name: project.projectId });
    expect(await pool.getAttribute("href")).toBe(`/console/runners/${project.poolId}`);
    const runner = run("true", "--once");
    expect(await runner.exited).toBe(0);
    await reasons.getByText("takes it once its pool has no older deployment waiting.").waitFor();
    await reasons.getByText("last asked").waitFor();
    expect(await earlier.count()).toBe(0);
    expect(await run("true", "--once").exited).toBe(0);
    await page.locator("h1 ~ .status.good", { hasText: "Succeeded" }).waitFor();
    expect(await reasons.count()).toBe(0);
  });
});

describe("a runner pool in the console", () => {
  it("shows the runners that are online, and which deployment each has", async (context) => {
    const { project, run } = await fixture.prepare(context);
    const { owner } = fixture.service;
    const path = at(`runners/${project.poolId}`);
    const { page } = await openPage(path, { apiKey: owner.key });
    await page.getByText("No runner of this pool has asked for work in the last").waitFor();
    const runner = run("until [ -e go ]; do sleep 0.1; done", "--name", "builder ש1");
    const row = page
      .getByRole("list", { name: "Runners online" })
      .getByRole("listitem")
      .filter({ hasText: "builder ש1" });
    await row.filter({ hasText: /Idle.*last seen/ }).waitFor();
    const { id } = await project.deploy();
    await row.getByText("Busy").waitFor();
    const link = row.getByRole("link", { name: "a deployment" });
    expect(await link.getAttribute("href")).toBe(`/console/deployments/${id}`);
    runner.make("go");
    await row.getByText("Idle").waitFor();
    expect(await link.count()).toBe(0);
  });
});
