import { describe, expect, it } from "vitest";
import { createClient } from "../../../packages/client/src/index.ts";
import { openPage, waitUntilLoaded } from "../support/console.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { invite } from "../support/invited-member.ts";
import { useService } from "../support/service.ts";

const service = useService();

const at = (path: string) => new URL(`/console/${path}`, service.pages);

async function open(path: string, apiKey = service.owner.key, options: object = {}) {
  const opened = await openPage(at(path), { apiKey, reducedMotion: "reduce", ...options });
  await waitUntilLoaded(opened.page);
  return opened;
}

const git = (message: string): object => ({
  git: {
    commit: { author: {}, committer: {}, message, sha: "3f1c2aa9d5e14b7f8a90b1c2d3e4f5a6b7c8d9e0" },
    installation_id: "1",
    owner: "acme",
    provider: "github",
    ref: "main",
    repo: "shop",
    repo_id: "2",
  },
});

describe("an empty environment", () => {
  it("leads to the first deployment, one step at a time, each a button and a command", async () => {
    const project = await service.owner.call("POST", "/v1/projects", { name: "the first run" });
    const id = project.default_environment_id;
    const { page } = await open(`projects/${project.id}`);
    const steps = page.getByRole("list", { name: "Steps" }).locator(":scope > li");
    const done = () =>
      steps.evaluateAll((items) => items.map((each) => each.textContent.includes("Done")));
    await steps.nth(2).getByText("Add a stack first.").waitFor();
    await steps.nth(0).getByText(`npx @longshore/cli stacks create web -e ${id}`).waitFor();
    await steps.nth(1).getByText(`npx @longshore/cli pools create main -e ${id}`).waitFor();
    await steps.nth(1).getByRole("link", { name: "Create a runner pool" }).waitFor();
    expect(await done()).toEqual([false, false, false]);
    await steps.nth(0).getByRole("button", { name: "Create a stack" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("web");
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    await expect.poll(done).toEqual([true, false, false]);
    const pools = `/v1/orgs/${service.organizationId}/runner-pools`;
    const pool = await service.owner.call("POST", pools, { name: "main", environment_ids: [id] });
    const { token } = await service.owner.call("POST", `${pools}/${pool.id}/tokens`, {
      name: "one",
    });
    await page.reload();
    await steps.nth(1).getByRole("link", { name: "Open the runner pool" }).waitFor();
    const runner = createClient({ url: service.url.href, apiKey: token });
    await runner.post("/v1/runner/claims", { body: { request_id: crypto.randomUUID() } });
    await page.reload();
    await expect.poll(done).toEqual([true, true, false]);
    await steps.nth(2).getByText(`npx @longshore/cli deploy -e ${id} --wait`).waitFor();
    await steps.nth(2).getByRole("link", { name: "Deploy to production" }).click();
    const deploy = page.getByRole("button", { name: "Deploy", exact: true });
    await page.getByText("Nothing was deployed yet.").waitFor();
    await deploy.click();
    await page.getByRole("dialog").getByRole("checkbox", { name: "web" }).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Deploy", exact: true }).click();
    await page.waitForURL("**/deployments/**");
    await page.goto(at(`projects/${project.id}`).href);
    await page.getByRole("list", { name: "Environments" }).waitFor();
    expect(await steps.count()).toBe(0);
  });
});

const REPLICAS = "Raise the number of replicas";

/** Staging runs a commit with an alarm, and deploys the next one; a deployment to production waits for an approval. */
async function makePipeline() {
  const environment = await DeployedEnvironment.make(service);
  const { id, projectId } = environment;
  const project = await service.owner.call("GET", `/v1/projects/${projectId}`);
  const production = `/v1/environments/${project.default_environment_id}`;
  const { id: current } = await environment.deploy({
    source: git(REPLICAS) as never,
    reason: "More traffic",
  });
  const first = await environment.start();
  await first.report(0, "succeeded", undefined, { url: "https://staging.example.com" });
  await first.complete("succeeded");
  await environment.deploy();
  await environment.run("failed");
  const { id: running } = await environment.deploy({ source: { registry: { image: "shop:42" } } });
  const second = await environment.start();
  const [stack] = first.stackIds;
  await service.owner.call("PUT", `/v1/stacks/${stack}/alarms/latency`, {
    state: "alarm",
    reason: "Above 800 ms",
  });
  await service.owner.call("PUT", `${production}/protection`, {
    approvals: { required: 1, approvers: { role: "owner" }, prevent_self_approval: false },
  });
  const waiting = await service.owner.call("POST", `${production}/deployments`, {});
  return { environment, id, projectId, current, running, second, stack, waiting: waiting.id };
}

describe("the page of a project", () => {
  it("answers the five questions at once, and leads to the details with one click", async () => {
    const { environment, projectId, current, running, second, stack, waiting } =
      await makePipeline();
    const { page } = await open(`projects/${projectId}`);
    const columns = page.getByRole("list", { name: "Environments", exact: true });
    const staging = columns.locator(`[data-movable="${environment.id}"]`);
    const production = columns.getByRole("listitem").filter({ hasText: "Nothing yet" });
    const hrefOf = (name: RegExp | string) =>
      staging.getByRole("link", { name }).first().getAttribute("href");
    const click = async (name: RegExp | string, path: string) => {
      await staging.getByRole("link", { name }).first().click();
      await page.waitForURL(`**/console/${path}`);
    };
    const back = () => page.goto(at(`projects/${projectId}`).href);

    // What is running where?
    expect(await hrefOf("acme/shop main · 3f1c2aa")).toBe(
      "https://github.com/acme/shop/commit/3f1c2aa9d5e14b7f8a90b1c2d3e4f5a6b7c8d9e0",
    );
    expect(await hrefOf("https://staging.example.com")).toBe("https://staging.example.com");
    expect(await production.getByRole("link").first().textContent()).toBe("production");

    // Who changed it, and why?
    const text = await staging.textContent();
    for (const each of [REPLICAS, "More traffic", "by Me"]) expect(text).toContain(each);
    await click(/^since/, `deployments/${current}`);
    await page.getByText("More traffic").waitFor();

    // Is it healthy?
    await back();
    await staging.getByText("Alarm", { exact: true }).waitFor();
    expect(await staging.textContent()).toContain("Above 800 ms");
    await click("web: latency", `stacks/${stack}`);
    await page.getByText("Above 800 ms").waitFor();

    // What is happening now?
    await back();
    await click("In progress", `deployments/${running}`);
    await page.locator("h1 ~ .status", { hasText: "In progress" }).waitFor();

    // What do I have to do?
    await back();
    await production.getByText("waits for approval").waitFor();
    await page.getByRole("list", { name: "Waiting for you" }).getByRole("link").click();
    await page.waitForURL(`**/deployments/${waiting}/approve`);
    await page.getByRole("button", { name: "Approve" }).waitFor();

    // A failure stays visible until the next success.
    await second.complete("failed");
    await back();
    await staging.getByText("Failed", { exact: true }).waitFor();
    const strip = staging.getByRole("toolbar", {
      name: "Last deployments to staging, the newest at the end",
    });
    const marks = strip.getByRole("link");
    const names = await strip
      .getByRole("img")
      .evaluateAll((all) => all.map((each) => each.getAttribute("aria-label")));
    expect(names).toEqual([
      expect.stringMatching(/^Succeeded after \d+ s, created /),
      expect.stringMatching(/^Failed after \d+ s, created /),
      expect.stringMatching(/^Failed after \d+ s, created /),
    ]);
    expect(await marks.first().getAttribute("title")).toBe(names[0]);
    const shapes = await strip
      .locator("path")
      .evaluateAll((all) => all.map((each) => each.getAttribute("d")));
    expect(shapes[0]).not.toBe(shapes[1]);
    expect(shapes[1]).toBe(shapes[2]);
    // One stop of Tab, from which keys lead to the others.
    const stops = () => strip.locator("a[tabindex='0']").evaluateAll((all) => all.length);
    const focused = () => page.evaluate("document.activeElement.title");
    await marks.last().focus();
    for (const [key, at] of [
      ["ArrowRight", 2],
      ["ArrowLeft", 1],
      ["Home", 0],
      ["ArrowLeft", 0],
      ["ArrowRight", 1],
      ["End", 2],
    ] as const) {
      await page.keyboard.press(key);
      expect(await focused()).toBe(names[at]);
      await expect.poll(() => marks.nth(at).getAttribute("tabindex")).toBe("0");
      expect(await stops()).toBe(1);
    }
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe(names[2]);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/deployments/${running}`);
  });

  it("has the environments in an order that owners change with keys and by dragging, and promotes between neighbors", async () => {
    const { projectId } = await makePipeline();
    const { page } = await open(`projects/${projectId}`);
    const headings = page.getByRole("list", { name: "Environments", exact: true }).locator("h3");
    const order = () => headings.allTextContents();
    const saved = async () => {
      const list = `/v1/projects/${projectId}/overview`;
      const { data } = await service.owner.call("GET", list);
      const placed = data as { name: string; position?: number }[];
      return placed.toSorted((a, b) => (a.position ?? 9) - (b.position ?? 9)).map((e) => e.name);
    };
    const handle = page.getByRole("button", { name: "Move staging" });
    expect(await order()).toEqual(["production", "staging"]);
    expect(await page.getByRole("button", { name: /^Promote/ }).count()).toBe(0);
    await handle.focus();
    await page.keyboard.press("ArrowRight");
    expect(await order()).toEqual(["production", "staging"]);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(order).toEqual(["staging", "production"]);
    await page.getByText("staging is now 1 of 2.").waitFor();
    const focused = "document.activeElement.getAttribute('aria-label')";
    expect(await page.evaluate(focused)).toBe("Move staging");
    await expect.poll(saved).toEqual(["staging", "production"]);
    const drag = async () => {
      await handle.hover();
      await page.mouse.down();
      const box = await page.locator(".column", { hasText: "Nothing yet" }).boundingBox();
      const { x, y, width, height } = box ?? { x: 0, y: 0, width: 0, height: 0 };
      await page.mouse.move(x + width / 2, y + height / 2, { steps: 5 });
      await page.mouse.up();
    };
    await drag();
    await expect.poll(order).toEqual(["production", "staging"]);
    await expect.poll(saved).toEqual(["production", "staging"]);
    // The API has the newest first.
    const { page: settings } = await open(`projects/${projectId}/settings`);
    const choices = settings.getByLabel("Default environment").locator("option");
    await expect.poll(() => choices.allTextContents()).toEqual(["production", "staging"]);
    await drag();
    await expect.poll(saved).toEqual(["staging", "production"]);
    await page.reload();
    await expect.poll(order).toEqual(["staging", "production"]);
    const lefts = async () => {
      const boxes = await Promise.all(
        (await page.locator(".column").all()).map((each) => each.boundingBox()),
      );
      return new Set(boxes.map((box) => box?.x)).size;
    };
    expect(await lefts()).toBe(2);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await lefts()).toBe(1);
    await page.getByRole("button", { name: "Promote to production" }).click();
    const dialog = page.getByRole("dialog", { name: "Promote" });
    await dialog.getByRole("link", { name: "acme/shop main · 3f1c2aa" }).waitFor();
    await dialog.getByRole("button", { name: "Promote" }).click();
    await page.getByRole("heading", { level: 1, name: REPLICAS }).waitFor();
    const place = { projectId, role: "viewer" } as const;
    const { client } = await invite(service, "Vera", place);
    const viewer = await open(`projects/${projectId}`, client.key);
    await viewer.page.getByRole("link", { name: "staging", exact: true }).waitFor();
    expect(await viewer.page.getByRole("button", { name: /^(Move|Promote)/ }).count()).toBe(0);
  });
});

describe("the insights of a project", () => {
  it("are the four numbers of each environment, and charts of one that has five deployments", async () => {
    const environment = await DeployedEnvironment.make(service);
    const run = async (outcome: "succeeded" | "failed") => {
      await environment.deploy();
      await environment.run(outcome);
    };
    await run("succeeded");
    await run("failed");
    const { page } = await open(`projects/${environment.projectId}`);
    await page.getByRole("link", { name: "Insights", exact: true }).click();
    const charts = page.getByRole("main").getByRole("img");
    await page.getByLabel("Environment").selectOption("production");
    await page
      .getByText("Charts need 5 deployments: production has had no deployment in the last 30 days.")
      .waitFor();
    await page.getByLabel("Environment").selectOption("staging");
    await page.getByText("staging has had 2 in the last 30 days.").waitFor();
    expect(await charts.count()).toBe(0);
    const numbers = (name: string) =>
      page
        .getByRole("row", { name: new RegExp(`^${name}`) })
        .getByRole("cell")
        .allTextContents();
    // One success and one failure in 30 days.
    expect(await numbers("staging")).toEqual([
      "0.2 a week",
      expect.stringMatching(/^\d+ s$/),
      "50 %",
      "–",
    ]);
    expect(await numbers("production")).toEqual(["–", "–", "–", "–"]);

    for (const outcome of ["succeeded", "failed", "succeeded"] as const) await run(outcome);
    await page.reload();
    await expect
      .poll(() => charts.evaluateAll((all) => all.map((each) => each.getAttribute("aria-label"))))
      .toEqual([
        "Deployments: 5 deployments in the last 30 days",
        "Failed: 2 of 5 failed",
        expect.stringMatching(/^Duration: Median \d+ s, p95 up to \d+ s$/),
      ]);
    expect((await numbers("staging"))[3]).toMatch(/^\d+ s$/);
    await page.getByLabel("Period").selectOption("7 days");
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      environment: environment.id,
      days: "7",
    });
    await page.reload();
    await expect.poll(async () => (await numbers("staging"))[0]).toBe("3.0 a week");
    const bars = await charts.evaluateAll((all) =>
      all.slice(0, 2).map((each) => each.querySelector("rect.bar")?.getAttribute("height")),
    );
    expect(bars).toEqual(["60", "24"]);
    expect(await charts.nth(1).locator("title").last().textContent()).toMatch(/: 40 %$/);
    await page.getByText("All values").click();
    const cells = page.getByRole("table").nth(1).getByRole("row").nth(1).getByRole("cell");
    expect((await cells.allTextContents()).slice(0, 5)).toEqual(["3", "2", "0", "0", "40 %"]);
    await page
      .getByRole("row", { name: /^production/ })
      .getByRole("link")
      .click();
    await page.getByText("production has had no deployment in the last 7 days.").waitFor();
  });
});
