import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { FAILED_REQUEST, measureOverflow, openPage, waitUntilLoaded } from "../support/console.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { invite } from "../support/invited-member.ts";
import { useService } from "../support/service.ts";

const SHA = "3f1c2aa9d5e14b7f8a90b1c2d3e4f5a6b7c8d9e0";
const OTHER_SHA = "b94d27b9934d3e08a52e52d7da7dabfac484efe3";
const WEB = { stacks: { web: { executor: "script", path: "deploy.sh" } } };

const service = useService();

async function open(path: string, apiKey = service.owner.key) {
  const url = new URL(`/console/environments/${path}`, service.pages);
  const opened = await openPage(url, {
    ...{ apiKey, reducedMotion: "reduce", expectedProblem: FAILED_REQUEST },
  });
  await waitUntilLoaded(opened.page);
  return opened;
}

async function openDialog({ id, apiKey }: DeployedEnvironment) {
  const { page } = await open(id, apiKey);
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Deploy to staging" });
  await dialog.getByLabel("Reason").waitFor();
  const submit = () => dialog.getByRole("button", { name: "Deploy", exact: true }).click();
  const created = async () => {
    await page.waitForURL("**/console/deployments/*");
    return (await service.owner.call(
      "GET",
      `/v1${new URL(page.url()).pathname.slice(8)}`,
    )) as Awaited<ReturnType<DeployedEnvironment["read"]>>;
  };
  return { page, dialog, submit, created };
}

const source = (git: object) =>
  ({
    git: {
      ...{ provider: "github", owner: "acme", repo: "shop", repo_id: "2", installation_id: "7" },
      ...git,
      commit: { author: { name: "Ada" }, committer: {}, message: "Scale up", sha: SHA },
    },
  }) as never;

describe("the dialog Deploy", () => {
  it("asks for commit, branch and repository, without which a stack with an executor is not deployed", async () => {
    const environment = await DeployedEnvironment.make(service, WEB);
    const { page, dialog, submit, created } = await openDialog(environment);
    await submit();
    await dialog.getByText("The stack web needs a commit to check out.").waitFor();
    expect(await dialog.getByLabel("Branch or tag").count()).toBe(0);
    await dialog.getByLabel("Commit").fill(SHA.slice(0, 7));
    await dialog.getByLabel("Branch or tag").fill("main");
    await dialog.getByLabel("Repository URL").fill("git@github.com:acme/shop.git");
    await submit();
    await dialog.getByText("Enter the commit's full hash").waitFor();
    await dialog.getByLabel("Commit").fill(` ${SHA.toUpperCase()} `);
    await dialog.getByLabel("Deploy other stacks if one fails").check();
    await submit();
    const { data, continue_on_failure } = await created();
    expect(data.source).toEqual({
      git: {
        ...{ provider: "github", owner: "acme", repo: "shop", repo_id: "", installation_id: "" },
        ref: "refs/heads/main",
        commit: { sha: SHA, message: "", author: {}, committer: {} },
      },
    });
    expect(continue_on_failure).toBe(true);
    await page.getByRole("link", { name: "Timeline" }).click();
    await page.getByText("Stacks that don't need it are deployed").waitFor();
  });

  it("takes the repository of any server, and says at the field what is wrong with its URL", async () => {
    const environment = await DeployedEnvironment.make(service);
    const { page, dialog, submit, created } = await openDialog(environment);
    await dialog.getByLabel("Commit").fill(SHA);
    await dialog.getByLabel("Branch or tag").fill("refs/tags/v1");
    const url = dialog.getByLabel("Repository URL");
    await url.fill("ftp://git.example.com/acme/shop");
    await submit();
    await dialog
      .locator(".problem", { hasText: "Send the URL of a repository with https" })
      .waitFor();
    expect(await url.getAttribute("aria-invalid")).toBe("true");
    await url.fill("https://ada:secret@git.example.com/acme/shop.git");
    await submit();
    const { data, continue_on_failure } = await created();
    expect(data.source?.git).toMatchObject({
      ...{ provider: "git", url: "https://git.example.com/acme/shop.git", ref: "refs/tags/v1" },
      ...{ owner: "acme", repo: "shop" },
    });
    expect(continue_on_failure).toBe(false);
    await page.getByText("Reason", { exact: true }).waitFor({ state: "detached" });
    expect(await page.getByText("If a stack fails").count()).toBe(0);
  });

  it("knows the repository and the branch of what runs, and keeps them without a commit", async () => {
    const environment = await DeployedEnvironment.make(service, WEB);
    await environment.deploy({ source: source({ ref: "refs/heads/main", pull_request: "4" }) });
    await environment.run("succeeded");
    await environment.deploy({ source: source({ repo: "fork", ref: "refs/heads/fix" }) });
    await environment.run("failed");
    const first = await openDialog(environment);
    expect(await first.dialog.getByLabel("Branch or tag").count()).toBe(0);
    await first.submit();
    expect((await first.created()).data.source).toEqual(
      source({ ref: "refs/heads/main", pull_request: "4" }),
    );
    const { dialog, submit, created } = await openDialog(environment);
    await dialog.getByText("The full hash of a commit in acme/shop").waitFor();
    await dialog.getByLabel("Commit").fill(OTHER_SHA);
    expect(await dialog.getByLabel("Branch or tag").inputValue()).toBe("main");
    expect(await dialog.getByLabel("Repository URL").count()).toBe(0);
    await dialog.getByLabel("Image").fill("shop:43");
    await submit();
    expect((await created()).data.source).toEqual({
      git: {
        ...{ provider: "github", owner: "acme", repo: "shop", repo_id: "2", installation_id: "7" },
        ref: "refs/heads/main",
        commit: { sha: OTHER_SHA, message: "", author: {}, committer: {} },
      },
      registry: { image: "shop:43" },
    });
  });

  it("takes another name for a tag if a tag was tried last, and a branch in full", async () => {
    const environment = await DeployedEnvironment.make(service);
    await environment.deploy({ source: source({ ref: "refs/tags/v1" }) });
    for (const [name, ref] of [
      ["v2", "refs/tags/v2"],
      ["refs/heads/main", "refs/heads/main"],
    ] as const) {
      const { dialog, submit, created } = await openDialog(environment);
      await dialog.getByLabel("Commit").fill(OTHER_SHA);
      const field = dialog.getByLabel("Branch or tag");
      expect(await field.inputValue()).toBe(name === "v2" ? "v1" : "v2");
      await field.fill(name);
      await submit();
      expect((await created()).data.source?.git?.ref).toBe(ref);
    }
  });
});

async function makeStacks() {
  const environment = await DeployedEnvironment.make(service);
  const path = `/v1/environments/${environment.id}`;
  const api = await service.owner.call("POST", `${path}/stacks`, { name: "api" });
  return { environment, path, api };
}

describe("the settings of an environment", () => {
  it("choose the stack of its URL, and save a name alone", async () => {
    const { environment, path, api } = await makeStacks();
    const { page } = await open(`${environment.id}/settings`);
    const choice = page.getByLabel("URL of the environment");
    await choice.waitFor();
    expect(await choice.locator("option").allTextContents()).toEqual([
      "The stack that last reported one",
      ...["web", "worker", "api"],
    ]);
    const save = async () => {
      const [body] = await Promise.all([
        page.waitForRequest((request) => request.method() === "PATCH"),
        page.getByRole("button", { name: "Save" }).click(),
      ]);
      await body.response();
      await page.locator("button[aria-disabled=true]").waitFor({ state: "detached" });
      return body.postDataJSON();
    };
    await choice.selectOption("api");
    expect(await save()).toEqual({ name: "staging", url_stack_id: api.id });
    await page.getByLabel("Name").fill("live");
    expect(await save()).toEqual({ name: "live" });
    expect(await service.owner.call("GET", path)).toMatchObject({
      name: "live",
      url_stack_id: api.id,
    });
    await page.reload();
    await expect.poll(() => choice.inputValue()).toBe(api.id);
    await choice.selectOption("");
    expect(await save()).toEqual({ name: "live", url_stack_id: null });
    expect(await service.owner.call("GET", path)).not.toHaveProperty("url_stack_id");
  });
});

describe("the stacks of an environment", () => {
  it("have an order that contributors change with keys and by dragging, and that a deployment has", async () => {
    const { environment, path } = await makeStacks();
    const { page } = await open(`${environment.id}/stacks`);
    const list = page.getByRole("list", { name: "Stacks" });
    const order = () => list.getByRole("link").allTextContents();
    const saved = async () => {
      const { data } = await service.owner.call("GET", `${path}/stacks`);
      const stacks = data as { name: string; position?: number }[];
      return stacks.toSorted((a, b) => (a.position ?? 9) - (b.position ?? 9)).map((e) => e.name);
    };
    expect(await order()).toEqual(["web", "worker", "api"]);
    const handle = page.getByRole("button", { name: "Move api" });
    await handle.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await expect.poll(order).toEqual(["api", "web", "worker"]);
    await page.getByText("api is now 1 of 3.").waitFor();
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe(
      "Move api",
    );
    await expect.poll(saved).toEqual(["api", "web", "worker"]);
    await drag(page, "api", "worker");
    await expect.poll(order).toEqual(["web", "worker", "api"]);
    await expect.poll(saved).toEqual(["web", "worker", "api"]);
    await drag(page, "worker", "web");
    await page.reload();
    await expect.poll(order).toEqual(["worker", "web", "api"]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await measureOverflow(page)).toBeLessThanOrEqual(0);
    const { dialog } = await openDialog(environment);
    const choices = dialog.getByRole("group", { name: "Stacks" }).locator("label");
    expect(await choices.allTextContents()).toEqual(["worker", "web", "api"]);
    const { projectId } = environment;
    const viewer = await invite(service, "Vera", { projectId, role: "viewer" });
    const opened = await open(`${environment.id}/stacks`, viewer.client.key);
    await opened.page.getByRole("link", { name: "api" }).waitFor();
    expect(await opened.page.getByRole("button", { name: /^Move/ }).count()).toBe(0);
  });

  it("have the saved order again, and say why, if it can't be changed", async () => {
    const { environment, path } = await makeStacks();
    const { page } = await open(`${environment.id}/stacks`);
    await service.owner.call("POST", `${path}/stacks`, { name: "jobs" });
    await page.getByRole("button", { name: "Move api" }).press("ArrowUp");
    await page.getByRole("alert").getByText("stacks").waitFor();
    const links = page.getByRole("list", { name: "Stacks" }).getByRole("link");
    await expect.poll(() => links.allTextContents()).toContain("jobs");
    expect(await links.allTextContents()).toEqual(["web", "worker", "api", "jobs"]);
  });
});

/** Moves a stack to where another one is. */
async function drag(page: Page, name: string, to: string): Promise<void> {
  await page.getByRole("button", { name: `Move ${name}` }).hover();
  await page.mouse.down();
  const box = await page.getByRole("link", { name: to, exact: true }).boundingBox();
  const { x, y, height } = box ?? { x: 0, y: 0, height: 0 };
  await page.mouse.move(x, y + height / 2, { steps: 10 });
  await page.mouse.up();
}
