import type { Page, Route } from "playwright-core";
import { describe, expect, it } from "vitest";
import { measureOverflow, openPage, waitUntilLoaded } from "../support/console.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { invite } from "../support/invited-member.ts";
import { TestProject } from "../support/project.ts";
import { ApiClient, useService } from "../support/service.ts";

const service = useService();

const at = (path: string) => new URL(`/console/${path}`, service.pages);
const ID = /[1-9A-HJ-NP-Za-km-z]{22}/;

const rowsOf = (page: Page) => page.locator(".acts > li");
const sentencesOf = async (page: Page) => {
  await waitUntilLoaded(page);
  await rowsOf(page).first().waitFor();
  return page.locator(".said").allTextContents();
};

/** A project whose variable two people have written. */
async function makeHistory() {
  const project = await TestProject.make(service);
  const grace = await invite(service, "Grace Hopper", {
    projectId: project.projectId,
    role: "contributor",
  });
  const path = `/v1/environments/${project.environmentId}/variables`;
  const { data } = await grace.client.call("GET", path);
  const variable = data.find(({ name }: { name: string }) => name === "GREETING");
  await grace.client.call("PUT", `/v1/variables/${variable.id}`, {
    name: "GREETING",
    storage_method: "secret",
    value: "changed",
  });
  const owner = new ApiClient(service.url, project.key);
  await owner.call("GET", `/v1/variables/${variable.id}/value`);
  return { project, grace, variable };
}

describe("the activity in the console", () => {
  it("says each act once and with names, and opens what has changed, from where and with which key", async () => {
    const { project } = await makeHistory();
    const { page } = await openPage(at(`projects/${project.projectId}/activity`), {
      apiKey: project.key,
    });
    const sentences = await sentencesOf(page);
    expect(sentences.filter((each) => each.includes("GREETING"))).toEqual([
      expect.stringMatching(/^.+ revealed GREETING of production$/),
      "Grace Hopper changed GREETING in production",
      expect.stringMatching(/^.+ added GREETING to production$/),
    ]);
    expect(sentences.join("\n")).not.toMatch(ID);
    await page.getByRole("heading", { name: "Today" }).waitFor();
    const changed = rowsOf(page).filter({ hasText: "Grace Hopper changed" });
    expect((await changed.boundingBox())?.height).toBeLessThanOrEqual(37);
    await changed.getByRole("button", { name: "Details" }).click();
    await changed.getByText("127.0.0.1").waitFor();
    expect(await changed.getByRole("row").allTextContents()).toEqual([
      "FieldBeforeAfter",
      "Version12",
    ]);
    expect(await page.locator("main").innerText()).not.toMatch(ID);
    await changed.getByRole("button", { name: "Copy: ID of the variable" }).waitFor();
    // An open row is in the URL.
    await page.reload();
    await rowsOf(page).getByText("127.0.0.1").waitFor();
    await changed.getByRole("link", { name: "production" }).click();
    await page.getByRole("heading", { name: "production", level: 1 }).waitFor();
  });

  it("answers who has changed a variable in two clicks from the variables", async () => {
    const { project } = await makeHistory();
    const { page } = await openPage(at(`environments/${project.environmentId}/variables`), {
      apiKey: project.key,
    });
    const client = new ApiClient(service.url, project.key);
    const path = `/v1/environments/${project.environmentId}/variables`;
    await client.call("POST", path, { name: "OTHER", storage_method: "string", value: "a" });
    let clicks = 0;
    const click = async (locator: ReturnType<Page["getByRole"]>) => {
      clicks += 1;
      await locator.click();
    };
    await click(page.getByRole("link", { name: "History of GREETING" }));
    const sentences = await sentencesOf(page);
    expect(sentences).toHaveLength(3);
    expect(sentences[1]).toBe("Grace Hopper changed GREETING in production");
    await click(rowsOf(page).nth(1).getByRole("button", { name: "Details" }));
    await rowsOf(page).nth(1).getByText("API key", { exact: false }).first().waitFor();
    expect(clicks).toBe(2);
    await page.getByRole("button", { name: "Remove filter: GREETING" }).click();
    await rowsOf(page).filter({ hasText: "OTHER" }).waitFor();
  });

  it("is filtered by person, kind and security together, which the URL keeps", async () => {
    const { project } = await makeHistory();
    const { page } = await openPage(at(`projects/${project.projectId}/activity`), {
      apiKey: project.key,
    });
    await sentencesOf(page);
    await page.getByLabel("Kind").selectOption("Variables");
    await page.getByLabel("Person").selectOption("Grace Hopper");
    await expect
      .poll(() => sentencesOf(page))
      .toEqual(["Grace Hopper changed GREETING in production"]);
    await page.getByRole("button", { name: "Security only" }).click();
    await page.getByText("Nothing fits the filters.").waitFor();
    await page.getByLabel("Person").selectOption("Everybody");
    await expect
      .poll(() => sentencesOf(page))
      .toEqual([expect.stringMatching(/ revealed GREETING of production$/)]);
    await page.reload();
    expect(await sentencesOf(page)).toHaveLength(1);
    expect(await page.getByLabel("Kind").inputValue()).toBe("variables");
    const pressed = await page
      .getByRole("button", { name: "Security only" })
      .getAttribute("aria-pressed");
    expect(pressed).toBe("true");
  });

  it("folds what a runner reads again and again", async () => {
    const environment = await DeployedEnvironment.make(service);
    await environment.deploy();
    const started = await environment.start();
    for (let read = 0; read < 3; read += 1) await started.readVariables();
    const { page } = await openPage(at(`projects/${environment.projectId}/activity`), {
      apiKey: environment.apiKey,
    });
    const sentences = await sentencesOf(page);
    expect(sentences.filter((each) => each.includes("ariables"))).toEqual([
      `Variables of staging read by ${environment.id}, 3 times`,
    ]);
  });

  it("shows an organization's, of one project or of all, with a narrow window too", async () => {
    const { project } = await makeHistory();
    const { page } = await openPage(at("organization/activity"), {
      apiKey: project.key,
      viewport: { width: 390, height: 700 },
    });
    const all = await sentencesOf(page);
    expect(all).toContain(`Grace Hopper changed GREETING in ${project.projectName} / production`);
    expect(all.some((each) => each.includes("created API key"))).toBe(true);
    await page.getByLabel("Project").selectOption(project.projectName);
    await expect
      .poll(async () => (await sentencesOf(page)).some((each) => each.includes("created API key")))
      .toBe(false);
    expect(await measureOverflow(page)).toBeLessThanOrEqual(0);
    await page.getByRole("button", { name: "Export…" }).click();
    const href = await page.getByRole("link", { name: "Download" }).getAttribute("href");
    expect(href).toBe(
      `/v1/orgs/${service.organizationId}/audit-log/export?project_id=${project.projectId}`,
    );
  });

  it("shows the changelog without the right to the audit log, and says why", async () => {
    const { project, grace } = await makeHistory();
    for (const path of [`projects/${project.projectId}/activity`, "organization/activity"]) {
      const { page } = await openPage(at(path), { apiKey: grace.client.key });
      const sentences = await sentencesOf(page);
      await page.getByText("The audit log is for admins.").waitFor();
      expect(sentences.filter((each) => each.includes("Grace Hopper changed"))).toHaveLength(1);
      expect(sentences.join()).not.toContain("revealed");
      expect(await page.getByRole("button", { name: "Security only" }).count()).toBe(0);
      expect(await page.getByRole("button", { name: "Export…" }).count()).toBe(0);
    }
  });

  it("loads more of both lists in order, and leaves nothing out", async () => {
    const project = await TestProject.make(service);
    const { page } = await openPage(at(""), { apiKey: project.key });
    // The audit log has an act every hour, the changelog one every 20 minutes.
    await page.route("**/audit-log?*", (route) => sendPage(route, 240, 60));
    await page.route("**/changelog?*", (route) => sendPage(route, 350, 20));
    await page.goto(at(`projects/${project.projectId}/activity`).href);
    const seen: number[] = [];
    for (;;) {
      const sentences = await sentencesOf(page);
      const minutes = sentences.map((each) => Number(/ m(\d+)/.exec(each)?.[1]));
      expect(minutes.slice(0, seen.length)).toEqual(seen);
      expect(minutes).toEqual(minutes.toSorted((a, b) => a - b));
      seen.splice(0, seen.length, ...minutes);
      const more = page.getByRole("button", { name: "Load more" });
      if ((await more.count()) === 0) break;
      await more.click();
      await expect.poll(() => rowsOf(page).count()).toBeGreaterThan(seen.length);
    }
    expect(seen).toHaveLength(240 + 350);
  });
});

const END = Date.UTC(2026, 10, 20, 12);
const PAGE = 100;

/** A page of a list with `count` entries, one every `minutes`, whose names say how long before the end they are. */
async function sendPage(route: Route, count: number, minutes: number): Promise<void> {
  const url = new URL(route.request().url());
  const from = Number(url.searchParams.get("after") ?? 0);
  const isAudit = url.pathname.endsWith("audit-log");
  const data = Array.from({ length: Math.min(PAGE, count - from) }, (_, index) => {
    const ago = (from + index) * minutes + (isAudit ? 0 : 7);
    const record = { type: "stack", id: `${isAudit}${ago}`, name: `m${ago}` };
    return {
      id: `${isAudit ? "audit" : "entry"}${ago}`,
      created_at: new Date(END - ago * 60_000).toISOString(),
      action: isAudit ? "stack.deleted" : "created",
      outcome: "success",
      actor: { type: "session", name: "Ada", membership_id: "ada" },
      source: { type: "session" },
      ...{ project_id: "project", target: record, record, targets: [record] },
    };
  });
  const next = from + PAGE;
  const has_more = next < count;
  await route.fulfill({ json: { data, has_more, ...(has_more && { next_page: String(next) }) } });
}
