import { describe, expect, it } from "vitest";
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
    await page.getByRole("link", { name: "Changes" }).click();
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
