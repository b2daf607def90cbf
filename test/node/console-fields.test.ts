import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser } from "./support/browser.ts";
import { measureOverflow, openConsole, waitUntilLoaded } from "./support/console.ts";
import { DeployedEnvironment } from "./support/deployed-environment.ts";
import { invite } from "./support/invited-member.ts";
import { type Service, startService } from "./support/service.ts";

let service: Service;
let browser: Browser;

beforeAll(async () => {
  [service, browser] = await Promise.all([startService(), openBrowser()]);
});

afterAll(async () => {
  await browser.close();
  await service.stop();
});

async function open(path: string, apiKey = service.owner.key) {
  const url = new URL(`/console/environments/${path}`, service.pages);
  const opened = await openConsole(browser, url, { apiKey, reducedMotion: "reduce" });
  await waitUntilLoaded(opened.page);
  return opened;
}

async function openDialog({ id, apiKey }: DeployedEnvironment) {
  const { page, problems } = await open(id, apiKey);
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
  return { page, dialog, submit, created, problems };
}

async function makeStacks() {
  const environment = await DeployedEnvironment.make(service);
  const path = `/v1/environments/${environment.id}`;
  const api = await service.owner.call("POST", `${path}/stacks`, { name: "api" });
  return { environment, path, api };
}

describe("the settings of an environment", () => {
  it("choose the stack of its URL, and save a name alone", async () => {
    const { environment, path, api } = await makeStacks();
    const { page, problems } = await open(`${environment.id}/settings`);
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
    expect(problems).toEqual([]);
  });
});

describe("the stacks of an environment", () => {
  it("have an order that contributors change with keys and by dragging, and that a deployment has", async () => {
    const { environment, path } = await makeStacks();
    const { page, problems } = await open(`${environment.id}/stacks`);
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
    expect(problems).toEqual([]);
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
