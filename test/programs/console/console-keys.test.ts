import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { FAILED_REQUEST, openPage, waitUntilLoaded } from "../support/console.ts";
import { TestProject } from "../support/project.ts";
import { ApiClient, useService } from "../support/service.ts";

const service = useService();

const at = (path: string) => new URL(`/console/${path}`, service.pages);

/** A key of a new member of the organization and, with a role in it, of a project. */
async function newMember(projectId?: string, role?: string): Promise<string> {
  const root = `/v1/orgs/${service.organizationId}`;
  const name = `member-${crypto.randomUUID()}`;
  const body = { email: `${name}@example.com`, name, role: "member" };
  const { membership_id } = await service.owner.call("POST", `${root}/members`, body);
  if (projectId) {
    const members = { member_ids: [membership_id], role };
    await service.owner.call("POST", `/v1/projects/${projectId}/members`, members);
  }
  const { key } = await service.owner.call("POST", `${root}/api-keys`, { name, membership_id });
  return key;
}

async function buttonsOf(page: Page): Promise<string[]> {
  await waitUntilLoaded(page);
  const names = await page.locator("main").getByRole("button").allTextContents();
  return names.toSorted();
}

describe("an API key in the console", () => {
  it("is created, shown once, and revoked", async () => {
    const { page } = await openPage(at("organization/keys"), {
      apiKey: service.owner.key,
    });
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("for the test");
    await dialog.getByLabel("Expires after").selectOption("30 days");
    await dialog.getByLabel("projects:read").check();
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
    await dialog.getByText("it is not shown again").waitFor();
    const key = String(await dialog.locator("code").first().textContent());
    const client = new ApiClient(service.url, key);
    const { credential } = await client.call("GET", "/v1/whoami");
    expect(credential).toMatchObject({ name: "for the test", scopes: ["projects:read"] });
    expect(Date.parse(credential.expires_at) - Date.now()).toBeLessThanOrEqual(30 * 86_400_000);
    await dialog.getByRole("button", { name: "Done" }).click();
    expect(await page.content()).not.toContain(key);
    const row = page.locator(".list-item", { hasText: "for the test" });
    await row.getByText("Me · owner").waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Revoke for the test" }).click();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("for the test").waitFor({ state: "detached" });
    await expect(client.call("GET", "/v1/whoami")).rejects.toThrow("401");
    const stored = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }])";
    expect(await page.evaluate(stored)).toBe("[{},{}]");
  });

  it("has the scopes of a preset, with others added and removed", async () => {
    const { page } = await openPage(at("organization/keys"), { apiKey: service.owner.key });
    await page.getByRole("button", { name: "Create a key" }).click();
    const dialog = page.getByRole("dialog");
    const preset = (name: string) => dialog.getByRole("button", { name });
    const checked = () =>
      dialog
        .locator("input[name=scope]:checked")
        .evaluateAll((boxes) => boxes.map((box) => box.getAttribute("value")));
    expect(await preset("Everything I may").getAttribute("aria-pressed")).toBe("true");
    expect(await checked()).toEqual([]);
    await preset("Read only").click();
    expect((await checked()).every((scope) => scope?.endsWith(":read"))).toBe(true);
    expect(await checked()).toHaveLength(10);
    await preset("Deploy from CI").click();
    expect(await checked()).toEqual(["projects:read", "environments:read", "deployments:write"]);
    expect(await preset("Read only").getAttribute("aria-pressed")).toBe("false");
    await dialog.getByLabel("projects:read").uncheck();
    await dialog.getByLabel("variables:read").check();
    await dialog.getByLabel("Name").fill("from a preset");
    await dialog.getByRole("button", { name: "Create", exact: true }).click();
    await dialog.getByText("it is not shown again").waitFor();
    const key = String(await dialog.locator("code").first().textContent());
    const { credential } = await new ApiClient(service.url, key).call("GET", "/v1/whoami");
    expect(credential.scopes.toSorted()).toEqual([
      "deployments:write",
      "environments:read",
      "variables:read",
    ]);
  });

  it("is in a list that keeps its filter on every page", async () => {
    const keys = `/v1/orgs/${service.organizationId}/api-keys`;
    for (const [index, name] of ["a", "b", "c", "d", "e"].entries()) {
      const revoked = await service.owner.call("POST", keys, { name: `revoked ${name}` });
      await service.owner.call("DELETE", `${keys}/${revoked.id}`);
      await service.owner.call("POST", keys, { name: `active ${index}` });
    }
    const { page } = await openPage(at("organization"), {
      apiKey: service.owner.key,
    });
    const lists: URLSearchParams[] = [];
    await page.route("**/api-keys?*", (route) => {
      const url = new URL(route.request().url());
      lists.push(new URLSearchParams(url.search));
      url.searchParams.set("limit", "2");
      return route.continue({ url: url.href });
    });
    await page.goto(at("organization/keys?status=revoked").href);
    const list = page.getByRole("list", { name: "API keys" });
    const more = page.getByRole("button", { name: "Load more" });
    for (const name of ["revoked d", "revoked b"]) {
      await list.getByText(name).waitFor();
      await more.click();
    }
    await list.getByText("revoked a").waitFor();
    expect(await list.getByText(/^(revoked|active) \w/).count()).toBeGreaterThanOrEqual(5);
    expect(await list.getByText("active").count()).toBe(0);
    expect(lists.map((each) => [each.get("status"), each.has("after")])).toEqual([
      ["revoked", false],
      ["revoked", true],
      ["revoked", true],
    ]);
    // Another filter begins with the first page again.
    await page.getByLabel("Status").selectOption("Active");
    await list.getByText("active 4").waitFor();
    expect(await list.getByText("revoked").count()).toBe(0);
    expect(await list.getByRole("listitem").count()).toBe(2);
  });

  it("signs in, returns to the page of the URL, and signs out", async () => {
    const options = { expectedProblem: /40[01]/ };
    const { page } = await openPage(at("organization/usage"), options);
    await page.getByLabel("API key").fill("lsh_wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("API key").fill(service.owner.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    expect(page.url()).toBe(at("organization/usage").href);
    expect(await page.content()).not.toContain(service.owner.key);
    await page.locator(".end button").last().click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key", { exact: true }).waitFor();
    const cookies = await page.context().cookies();
    expect(cookies).toEqual([]);
  });
});

describe("the console of a viewer", () => {
  it("has no button and no link for what the service would refuse", async () => {
    const project = await TestProject.make(service);
    await project.deploy();
    const apiKey = await newMember(project.projectId, "viewer");
    const environment = `environments/${project.environmentId}`;
    const { page } = await openPage(at(""), { apiKey });
    const shown: Record<string, string[]> = {};
    const paths = [
      "",
      `projects/${project.projectId}`,
      ...["connection", "variables", "members", "integrations", "freezes", "settings"].map(
        (tab) => `projects/${project.projectId}/${tab}`,
      ),
      ...["configuration", "components", "stacks", "variables", "protection", "settings"].map(
        (tab) => `${environment}/${tab}`,
      ),
      environment,
      `stacks/${project.stackIds[0]}`,
    ];
    for (const path of paths) {
      await page.goto(at(path).href);
      shown[path] = await buttonsOf(page);
    }
    const nothing = Object.fromEntries(paths.map((path) => [path, []]));
    // Every member may create projects of their own.
    expect(shown).toEqual({ ...nothing, "": ["Create a project"] });
    await page.goto(at(environment).href);
    await page.getByRole("list", { name: "Deployments" }).getByRole("link").first().click();
    await page.getByRole("region", { name: "Log" }).waitFor();
    const stacks = page.getByRole("list", { name: "Stacks" });
    await expect.poll(() => stacks.locator("bdi").allTextContents()).toEqual(["first", "second"]);
    expect(await buttonsOf(page)).toEqual(["Download", "firstPending", "secondPending"]);
    expect(await page.getByRole("navigation", { name: "Main" }).textContent()).not.toContain(
      "Runners",
    );
    await page.goto(at("organization").href);
    const tabs = await page.getByRole("navigation", { name: "Sections" }).textContent();
    expect(tabs).toBe("OverviewActivityAPI keysFreezesSessions");
  });

  it("has those of a contributor in the same places", async () => {
    const project = await TestProject.make(service);
    const apiKey = await newMember(project.projectId, "contributor");
    const environment = `environments/${project.environmentId}`;
    const { page } = await openPage(at(environment), { apiKey });
    await page.getByRole("button", { name: "Deploy" }).waitFor();
    await page.goto(at(`${environment}/variables`).href);
    await page.getByRole("button", { name: "Reveal GREETING" }).waitFor();
    expect(await buttonsOf(page)).toEqual([
      "Add a variable",
      "Delete",
      "Edit",
      "Paste a .env file",
      "Reveal",
    ]);
    await page.goto(at(`projects/${project.projectId}/settings`).href);
    expect(await buttonsOf(page)).toEqual([]);
  });

  it("shows a project of others as not found, with the request's ID", async () => {
    const project = await TestProject.make(service);
    const { page } = await openPage(at(`projects/${project.projectId}`), {
      apiKey: await newMember(),
      expectedProblem: FAILED_REQUEST,
    });
    await page.getByRole("alert").getByText("Request").waitFor();
  });
});
