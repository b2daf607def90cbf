import type { Page, Request } from "playwright-core";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { findViolations } from "../support/axe.ts";
import { openPage, waitUntilLoaded } from "../support/console.ts";
import { TestProject } from "../support/project.ts";
import { useService } from "../support/service.ts";

const WITHIN_MS = 300_000;

const service = useService();
let project: TestProject;

beforeAll(async () => {
  project = await TestProject.make(service);
});

interface Tab {
  page: Page;
  /** How often the tab has read which build the service has. */
  reads: () => number;
  /** Returns to the tab after some time. */
  returnAfter: (seconds: number) => Promise<void>;
}

/** A tab at the settings of a project, while the service has this build. Undefined: its own. */
async function openTab(build?: () => object | "failure"): Promise<Tab> {
  const url = new URL(`/console/projects/${project.projectId}/settings`, service.pages);
  const { page } = await openPage(url, {
    apiKey: project.key,
    ...(build && { expectedProblem: /net::ERR_FAILED/ }),
  });
  await waitUntilLoaded(page);
  let reads = 0;
  let ended = 0;
  const end = (request: Request) => {
    if (request.url().endsWith("/console/build.json")) ended += 1;
  };
  page.on("requestfinished", end).on("requestfailed", end);
  await page.context().route("**/console/build.json", (route) => {
    reads += 1;
    const current = build?.();
    if (current === "failure") return route.abort();
    return current ? route.fulfill({ json: current }) : route.continue();
  });
  await page.clock.install();
  const returnAfter = async (seconds: number) => {
    await page.clock.fastForward(seconds * 1_000);
    await page.evaluate('window.dispatchEvent(new Event("focus"))');
    // What the tab has asked for before is known by the response to this.
    await page.evaluate(`fetch("/openapi.json", { method: "HEAD" }).then(() => undefined)`);
    await vi.waitUntil(() => ended === reads, { timeout: WITHIN_MS });
  };
  return { page, reads: () => reads, returnAfter };
}

const offerOf = (page: Page) => page.getByText("A new version of the console is available.");

describe("an open tab of the console", () => {
  it("says nothing while the service has its build, and asks at most once a minute", async () => {
    const { page, reads, returnAfter } = await openTab();
    // Half a minute is left for what a busy machine needs to load the page.
    await returnAfter(30);
    expect(reads()).toBe(0);
    await returnAfter(31);
    expect(reads()).toBe(1);
    await returnAfter(30);
    expect(reads()).toBe(1);
    await returnAfter(31);
    expect(reads()).toBe(2);
    expect(await offerOf(page).count()).toBe(0);
  });

  it.each([
    ["does not respond", "failure" as const],
    ["replies without a build", {}],
  ])("says nothing if the service %s", async (_, reply) => {
    const { page, reads, returnAfter } = await openTab(() => reply);
    await returnAfter(61);
    expect(reads()).toBe(1);
    expect(await offerOf(page).count()).toBe(0);
  });

  it("offers to reload if the service has another build, and reloads only when it is asked to", async () => {
    const { page, returnAfter } = await openTab(() => ({ build: "another" }));
    await page.evaluate("window.marked = true");
    await returnAfter(61);
    const notice = page.getByRole("status").filter({ hasText: "A new version" });
    await notice.waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate("window.marked")).toBe(true);
    await notice.getByRole("button", { name: "Reload" }).click();
    await vi.waitUntil(async () => (await page.evaluate("window.marked")) === undefined, {
      timeout: WITHIN_MS,
    });
    await waitUntilLoaded(page);
    expect(await offerOf(page).count()).toBe(0);
  });

  it("keeps what was typed: it offers the new version in another tab, and stores nothing", async () => {
    const { page, returnAfter } = await openTab(() => ({ build: "another" }));
    const saved = await page.getByLabel("Name", { exact: true }).inputValue();
    await page.getByLabel("Name", { exact: true }).fill("half a name");
    await returnAfter(61);
    await offerOf(page).waitFor();
    await page.getByText("This tab keeps what you have typed.").waitFor();
    expect(await page.getByRole("button", { name: "Reload" }).count()).toBe(0);
    const opened = page.context().waitForEvent("page");
    await page.getByRole("link", { name: "Open it in a new tab" }).click();
    const other = await opened;
    await waitUntilLoaded(other);
    expect(other.url()).toBe(page.url());
    expect(await other.getByLabel("Name", { exact: true }).inputValue()).toBe(saved);
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("half a name");
    for (const each of [page, other]) {
      const stored = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }])";
      expect(await each.evaluate(stored)).toBe("[{},{}]");
    }
    await page.getByLabel("Name", { exact: true }).fill(saved);
    await page.getByRole("button", { name: "Reload" }).waitFor();
  });
});
