import { describe, expect, it } from "vitest";
import { createClient } from "../../../packages/client/src/index.ts";
import { FAILED_REQUEST, openPage, waitUntilLoaded } from "../support/console.ts";
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

describe("the list of deployments", () => {
  it("has the commit, its message, the outcome and the duration in columns", async () => {
    const environment = await DeployedEnvironment.make(service);
    const message = `Raise the number of replicas ${"and more ".repeat(20)}\nIts body`;
    await environment.deploy({ source: git(message) as never, reason: "Sale" });
    await environment.run("succeeded");
    const image = { registry: { image: "shop:42" } };
    await environment.deploy({ source: image, reason: "Night" });
    await environment.run("failed");
    const { page } = await open(`environments/${environment.id}`, environment.apiKey);
    const rows = page.getByRole("list", { name: "Deployments" }).getByRole("listitem");
    expect(await rows.count()).toBe(2);
    const texts = await rows.allTextContents();
    expect(texts[1]).toMatch(
      /^main · 3f1c2aa Live Raise the number of replicas .*Sale · Me · 2 stacks.*Succeeded.*took \d+ s/,
    );
    expect(texts[1]).not.toContain("Its body");
    expect(texts[0]).toMatch(/^shop:42 NightMe · 2 stacks.*Failed.*took \d+ s/);
    const statuses = await rows.locator(".columns > .status").all();
    const boxes = await Promise.all(statuses.map((each) => each.boundingBox()));
    expect(boxes[0]?.x).toBe(boxes[1]?.x);
    await page.getByText(/^Median of the loaded successes: \d+ s\.$/).waitFor();
    await page.getByLabel("Status").selectOption("failed");
    await expect.poll(() => rows.count()).toBe(1);
    expect(await page.getByText("Median of the").count()).toBe(0);
    expect(new URL(page.url()).search).toBe("?status=failed");
    await page.reload();
    await expect.poll(() => rows.count()).toBe(1);
  });

  it("is filtered by who has created them and by their source, of those that are loaded", async () => {
    const environment = await DeployedEnvironment.make(service);
    const { client: grace } = await invite(service, "Grace", {
      projectId: environment.projectId,
      role: "contributor",
    });
    const deployments = `/v1/environments/${environment.id}/deployments`;
    for (const [creator, source] of [
      [service.owner, git("Raise the number of replicas\nIts body")],
      [grace, { registry: { image: "shop:41" } }],
      [service.owner, { registry: { image: "Shop:42" } }],
    ] as const) {
      await creator.call("POST", deployments, { source });
      await environment.run("failed");
    }
    const { page } = await open(`environments/${environment.id}`, environment.apiKey);
    const rows = page.getByRole("list", { name: "Deployments" }).getByRole("listitem");
    const links = () => rows.getByRole("link").allTextContents();
    expect(await links()).toEqual(["Shop:42", "shop:41", "main · 3f1c2aa"]);
    expect(await page.getByText("are loaded").count()).toBe(0);
    const source = page.getByLabel("Source");
    for (const [text, expected] of [
      ["SHOP:4", ["Shop:42", "shop:41"]],
      ["main", ["main · 3f1c2aa"]],
      ["3f1c2aa9d5e1", ["main · 3f1c2aa"]],
      ["number of", ["main · 3f1c2aa"]],
      ["acme/shop", ["main · 3f1c2aa"]],
    ] as const) {
      await source.fill(text);
      await expect.poll(links).toEqual(expected);
      expect(new URL(page.url()).searchParams.get("source")).toBe(text);
    }
    await page.getByText("1 of the 3 deployments that are loaded.", { exact: true }).waitFor();
    await source.fill("shop:4");
    await page.getByLabel("Created by").selectOption("Grace");
    await expect.poll(links).toEqual(["shop:41"]);
    await page.getByLabel("Status").selectOption("succeeded");
    await page.getByText("No deployment fits the filters.").waitFor();
    await page.reload();
    await page.getByText("No deployment fits the filters.").waitFor();
    await page.getByLabel("Status").selectOption("");
    await expect.poll(links).toEqual(["shop:41"]);
  });
});

describe("a page in a narrow window", () => {
  const PHONE = { viewport: { width: 390, height: 800 } };

  it("has the filters of deployments behind one button, unless its URL has some", async () => {
    const environment = await DeployedEnvironment.make(service);
    const path = `environments/${environment.id}`;
    const { page } = await open(path, environment.apiKey, PHONE);
    const status = page.getByLabel("Status");
    const button = page.getByRole("button", { name: "Filters" });
    expect([await status.isVisible(), await button.getAttribute("aria-expanded")]).toEqual([
      false,
      "false",
    ]);
    await button.click();
    await status.selectOption("failed");
    await page.reload();
    await status.waitFor();
    const wide = await open(path, environment.apiKey);
    await wide.page.getByLabel("Status").waitFor();
    expect(await wide.page.getByRole("button", { name: "Filters" }).count()).toBe(0);
  });
});

describe("the header", () => {
  it("has a line while the page shows a deployment that runs", async () => {
    const environment = await DeployedEnvironment.make(service);
    await environment.deploy();
    const { page } = await open(`environments/${environment.id}`, environment.apiKey);
    const line = () =>
      page.evaluate("getComputedStyle(document.querySelector('header'), '::after').content");
    await page.locator(".status", { hasText: "Queued" }).waitFor();
    expect(await line()).toBe("none");
    const started = await environment.start();
    await page.locator(".status", { hasText: "In progress" }).waitFor();
    expect(await line()).toBe('""');
    await started.report(0, "failed", "it failed");
    await started.complete("failed");
    await page.locator(".status", { hasText: "Failed" }).waitFor();
    expect(await line()).toBe("none");
  });
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

describe("the button of a list that is being read", () => {
  it("is at its place once it is known whether the list is empty, so that no click is lost", async () => {
    const environment = await DeployedEnvironment.make(service);
    const { default_environment_id: empty } = await service.owner.call("POST", "/v1/projects", {
      name: "a slow list",
    });
    const { page } = await open("", environment.apiKey);
    const create = page.getByRole("button", { name: "Create a stack" });
    for (const [id, place] of [
      [empty, ".empty"],
      [environment.id, ".heading"],
    ]) {
      const held = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      await page.route(`**/v1/environments/${id}/stacks*`, async (route) => {
        asked.resolve();
        await held.promise;
        await route.continue();
      });
      await page.goto(at(`environments/${id}/stacks`).href);
      await asked.promise;
      const section = page.getByRole("heading", { name: "Stacks", level: 2 });
      await section.waitFor();
      // The place of the button is kept, so that a list does not move when it appears.
      const before = await section.boundingBox();
      expect(await create.count()).toBe(0);
      held.resolve();
      await page.locator(place).filter({ has: create }).waitFor();
      expect(await create.count()).toBe(1);
      if (place === ".heading") expect(await section.boundingBox()).toEqual(before);
    }
  });
});

describe("the list of runner pools", () => {
  it("says how many runners are online, idle and busy with what, and that none is", async () => {
    const environment = await DeployedEnvironment.make(service);
    const { page } = await open("runners");
    const row = page
      .getByRole("list", { name: "Runner pools" })
      .getByRole("listitem")
      .filter({ hasText: environment.id });
    await row.getByText("Offline").waitFor();
    const { id } = await environment.deploy();
    const started = await environment.start();
    await page.reload();
    await row.getByText("Busy").waitFor();
    expect(await row.textContent()).toMatch(/1 environment.*1 Busy.*A deployment.*seen/);
    const link = row.getByRole("link", { name: "A deployment" });
    expect(await link.getAttribute("href")).toBe(`/console/deployments/${id}`);
    await started.complete("succeeded");
    await page.reload();
    await row.getByText("Idle").waitFor();
    expect(await link.count()).toBe(0);
  });
});

describe("the editor of a configuration", () => {
  it("shows the change before it is saved, and the other's change if two edit", async () => {
    const environment = await DeployedEnvironment.make(service, { replicas: 2 });
    const path = `environments/${environment.id}/configuration`;
    const api = `/v1/environments/${environment.id}`;
    const options = { expectedProblem: FAILED_REQUEST };
    const { page } = await open(path, environment.apiKey, options);
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit the configuration" });
    const field = dialog.getByLabel("Configuration", { exact: true });
    expect(await field.inputValue()).toBe('{\n  "replicas": 2\n}');
    const save = dialog.getByRole("button", { name: "Save" });
    expect(await save.getAttribute("aria-disabled")).toBe("true");
    await field.fill('{"replicas": 3,}');
    await dialog.getByText("JSON at position").waitFor();
    await dialog.getByText("The text is not JSON yet.").waitFor();
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    await field.fill('{"replicas": 3}');
    await dialog.getByText("/replicas 3").waitFor();
    const before = await service.owner.call("GET", api);
    const theirs = { name: before.name, configuration: { replicas: 2, search: true } };
    await service.owner.call("PUT", api, theirs);
    await save.click();
    await dialog.getByRole("heading", { name: "What the others have changed" }).waitFor();
    const others = dialog.getByRole("region", { name: "What the others have changed" });
    const own = dialog.getByRole("region", { name: "What you change" });
    await expect
      .poll(() => others.getByRole("listitem").allTextContents())
      .toEqual(["+Added: /search true"]);
    expect(await own.textContent()).toContain("Removed: /search true");
    const boxes = [await others.boundingBox(), await own.boundingBox()];
    expect(boxes[0]?.y).toBe(boxes[1]?.y);
    expect((await service.owner.call("GET", api)).configuration).toEqual(theirs.configuration);
    await dialog.getByRole("button", { name: "Add it to the text" }).click();
    await own.getByText("/search").waitFor({ state: "detached" });
    expect(JSON.parse(await field.inputValue())).toEqual({ replicas: 3, search: true });
    expect(await dialog.getByRole("alert").count()).toBe(0);
    await save.click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("replicas: 3").waitFor();
    const { name, configuration } = await service.owner.call("GET", api);
    expect([name, configuration]).toEqual([before.name, { replicas: 3, search: true }]);
  });

  it("deploys the change instead, unless others have changed it, which saves it once the deployment succeeds", async () => {
    const environment = await DeployedEnvironment.make(service, { replicas: 2, scale: { to: 5 } });
    const api = `/v1/environments/${environment.id}`;
    const path = `environments/${environment.id}/configuration`;
    const { page } = await open(path, environment.apiKey);
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit the configuration" });
    const field = dialog.getByLabel("Configuration", { exact: true });
    const deploy = dialog.getByRole("button", { name: "Deploy" });
    await field.fill('{"replicas": 4, "scale": {"to": 6}}');
    const { name } = await service.owner.call("GET", api);
    await service.owner.call("PUT", api, { name, configuration: { replicas: 3 } });
    await deploy.click();
    await dialog.getByText("Somebody else has saved it meanwhile").waitFor();
    expect(await environment.list()).toEqual([]);
    const own = dialog.getByRole("region", { name: "What you change" });
    await own.getByText("/replicas 3").waitFor();
    // They have removed the object of which this changes a member.
    await dialog.getByRole("button", { name: "Add it to the text" }).click();
    await dialog.getByText("You change what the others have removed.").waitFor();
    await field.fill('{"replicas": 4}');
    // A new name is no change of the configuration.
    await service.owner.call("PUT", api, { name: "renamed", configuration: { replicas: 3 } });
    await deploy.click();
    await page.locator("h1 ~ .status", { hasText: "Queued" }).waitFor();
    await page.getByText("/replicas 4").waitFor();
    const [deployment] = await environment.list();
    expect(deployment?.data.patch).toEqual([
      { op: "replace", path: "/replicas", value: 4, old_value: 3 },
    ]);
  });

  it("is saved if others have changed only the name, and keeps that", async () => {
    const environment = await DeployedEnvironment.make(service, { replicas: 2 });
    const api = `/v1/environments/${environment.id}`;
    const { page } = await open(
      `environments/${environment.id}/configuration`,
      environment.apiKey,
      {
        expectedProblem: FAILED_REQUEST,
      },
    );
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit the configuration" });
    await dialog.getByLabel("Configuration", { exact: true }).fill('{"replicas": 5}');
    await service.owner.call("PUT", api, { name: "renamed", configuration: { replicas: 2 } });
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await service.owner.call("GET", api)).toMatchObject({
      name: "renamed",
      configuration: { replicas: 5 },
    });
  });
});

describe("the variables of a project", () => {
  it("are a matrix of their names and the environments, without values", async () => {
    const environment = await DeployedEnvironment.make(service);
    const write = (id: string, name: string, storage_method: string) =>
      service.owner.call("POST", `/v1/environments/${id}/variables`, {
        name,
        storage_method,
        value: "canary",
      });
    const { projectId } = environment;
    const { default_environment_id } = await service.owner.call("GET", `/v1/projects/${projectId}`);
    await write(environment.id, "LEVEL", "string");
    await write(default_environment_id, "LEVEL", "secret");
    await write(default_environment_id, "TOKEN", "secret");
    const { page } = await open(`projects/${projectId}/variables`);
    const cells = (name: string) =>
      page.getByRole("row", { name }).getByRole("cell").allTextContents();
    const columns = await page.getByRole("columnheader").allTextContents();
    const staging = columns.indexOf("staging") - 1;
    // As on the page of the project: the oldest first, until an owner orders them.
    expect(columns).toEqual(["Name", "production", "staging"]);
    const [level, token] = [await cells("LEVEL"), await cells("TOKEN")];
    expect([level[staging], level[1 - staging]]).toEqual(["string", "secret"]);
    expect([token[staging], token[1 - staging]]).toEqual(["missing", "secret"]);
    expect(await page.textContent("main")).not.toContain("canary");
  });
});

describe("the comparison of two environments", () => {
  it("shows the sources, the change of the configuration, and names of variables, without values", async () => {
    const environment = await DeployedEnvironment.make(service, { replicas: 2 });
    const { projectId } = environment;
    const { default_environment_id: production } = await service.owner.call(
      "GET",
      `/v1/projects/${projectId}`,
    );
    const { id: preview } = await service.owner.call(
      "POST",
      `/v1/projects/${projectId}/environments`,
      { name: "preview", configuration: { replicas: 2 } },
    );
    const write = (id: string, name: string, storage_method: string) =>
      service.owner.call("POST", `/v1/environments/${id}/variables`, {
        name,
        storage_method,
        value: "canary",
      });
    await write(environment.id, "LEVEL", "string");
    await write(production, "LEVEL", "secret");
    await write(production, "TOKEN", "secret");
    await write(environment.id, "TRACE", "string");
    await environment.deploy({ source: git("Raise it") as never });
    await environment.run("succeeded");
    const path = `environments/${environment.id}`;
    const { page } = await open(path, environment.apiKey);
    await page.getByRole("link", { name: "Compare", exact: true }).click();
    // The next one comes first: it is newer.
    expect(await page.getByLabel("Compare with").inputValue()).toBe(preview);
    await page.getByText("Both have the same.", { exact: true }).waitFor();
    await page.getByLabel("Compare with").selectOption("production");
    expect(new URL(page.url()).search).toBe(`?with=${production}`);
    await page.getByText("What staging would have to change to be as production is:").waitFor();
    expect(await page.getByRole("list", { name: "Changes" }).textContent()).toContain("/replicas");
    const source = page.getByRole("region", { name: "Source" });
    expect(await source.textContent()).toMatch(/staging.*3f1c2aa.*productionWithout a source/);
    const rows = () => page.getByRole("row").allTextContents();
    expect(await rows()).toEqual([
      "Namestagingproduction",
      "TOKENmissinghas it",
      "TRACEhas itmissing",
      "LEVELstringsecret",
    ]);
    await page.reload();
    await expect.poll(async () => (await rows()).length).toBe(4);
    expect(await page.textContent("main")).not.toContain("canary");
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
    await page.waitForURL(`**/deployments/${waiting}`);
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
    await page.locator("h1", { hasText: "Deployment to production" }).waitFor();
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
