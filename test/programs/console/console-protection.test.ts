import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { FAILED_REQUEST, openPage } from "../support/console.ts";
import { invite, type Person } from "../support/invited-member.ts";
import { LocalIssuer } from "../support/issuer.ts";
import { TestProject } from "../support/project.ts";
import { type ApiClient, useService } from "../support/service.ts";

const service = useService({ ALLOW_INSECURE_WEBHOOKS: "true" });
let project: TestProject;
let olga: Person;
let mona: Person;
let vera: Person;

beforeAll(async () => {
  project = await TestProject.make(service);
  const { projectId } = project;
  olga = await invite(service, "Olga Owner", { projectId, role: "owner" });
  mona = await invite(service, "Mona Maker", { projectId, role: "contributor" });
  vera = await invite(service, "Vera Viewer", { projectId, role: "viewer" });
});

const at = (path: string) => new URL(`/console/${path}`, service.pages);

function open(path: string, { key }: ApiClient, options: object = {}) {
  return openPage(at(path), { apiKey: key, reducedMotion: "reduce", ...options });
}

const protect = (rules: object) =>
  service.owner.call("PUT", `/v1/environments/${project.environmentId}/protection`, rules);

const deploy = async (by: Person, body: object = {}): Promise<string> => {
  const path = `/v1/environments/${project.environmentId}/deployments`;
  return (await by.client.call("POST", path, body)).id;
};

const buttonsOf = (page: Page) => page.locator(".heading .button").allTextContents();

const read = (id: string) => service.owner.call("GET", `/v1/deployments/${id}`);

describe("the rules of an environment", () => {
  it("are there in words, for everybody, with names", async () => {
    await protect({
      access: { deploy: { membership_ids: [mona.membershipId, olga.membershipId] } },
      approvals: {
        required: 1,
        approvers: { membership_ids: [olga.membershipId] },
        expires_after_seconds: 7_200,
      },
      windows: {
        time_zone: "Europe/Berlin",
        weekly: [{ days: ["monday"], from: "09:00", to: "17:00" }],
      },
      exempt: ["rollback", "restart"],
    });
    const { page } = await open(`environments/${project.environmentId}/protection`, vera.client);
    for (const text of [
      "Mona Maker and Olga Owner",
      "Project owners and organization admins",
      "Needs 1 approval from Olga Owner. You can't approve your own deployment. Expires after 2 hours if not approved.",
      "approvals are as strong as the organization's admins",
      "Monday 09:00 to 17:00 (Europe/Berlin).",
      "Rollbacks and restarts skip these rules and freezes, but still wait their turn.",
    ]) {
      await page.getByText(text).waitFor();
    }
    expect(await buttonsOf(page)).toEqual([]);
  });

  const openForm = async (options: object = {}) => {
    const path = `environments/${project.environmentId}/protection`;
    const { page } = await open(path, olga.client, options);
    await page.getByRole("region", { name: "Approvals" }).waitFor();
    return page;
  };

  it("are turned on and off in a form, which says what a deployment would wait for", async () => {
    await protect({ group: "production" });
    const page = await openForm();
    const now = page.getByRole("region", { name: "If you deployed now" });
    await now.getByRole("list", { name: "Waiting for" }).waitFor();
    expect(await now.getByText("approvals").count()).toBe(0);
    expect(await page.getByRole("region", { name: "Unsaved changes" }).count()).toBe(0);
    const approvals = page.getByRole("region", { name: "Approvals" });
    await approvals.getByRole("switch").check();
    await approvals.getByLabel("How many").selectOption("2");
    await approvals.getByLabel("Who approves").selectOption("listed");
    await approvals.getByLabel("Olga Owner").check();
    await approvals.getByLabel("Mona Maker").check();
    await approvals.getByLabel("Nobody approves their own deployment").uncheck();
    await approvals.getByLabel("Expires after", { exact: true }).fill("3");
    await approvals.getByLabel("Expires after: unit").selectOption("hours");
    const times = page.getByRole("region", { name: "Times" });
    await times.getByRole("switch").check();
    await times.getByLabel("Fri").check();
    await times.getByLabel("From").fill("08:30");
    await times.getByLabel("Time zone").fill("Europe/Berlin");
    const group = page.getByRole("region", { name: "One at a time" });
    expect(await group.getByLabel("Group").inputValue()).toBe("production");
    await group.getByRole("switch").uncheck();
    const bar = page.getByRole("region", { name: "Unsaved changes" });
    await bar.getByText("/approvals", { exact: false }).first().waitFor();
    await bar.getByText("/group").waitFor();
    await bar.getByRole("button", { name: "Save" }).click();
    await bar.waitFor({ state: "detached" });
    expect(await protection()).toMatchObject({
      access: { configure: { role: "owner" } },
      approvals: {
        required: 2,
        approvers: { membership_ids: [olga.membershipId, mona.membershipId].toSorted() },
        prevent_self_approval: false,
        expires_after_seconds: 10_800,
      },
      windows: {
        time_zone: "Europe/Berlin",
        weekly: [
          {
            days: ["monday", "tuesday", "wednesday", "thursday", "friday"],
            from: "08:30",
            to: "16:00",
          },
        ],
      },
    });
    expect(await protection()).not.toHaveProperty("group");
    await now.getByText("0 of 2 approvals").waitFor();
  });

  it("keep in the form what it does not show, and name the field that is refused", async () => {
    const { id } = await service.owner.call("POST", environmentsPath(), { name: "staging" });
    const from = {
      environment_ids: [id],
      minimum_seconds: 5_400,
      same_configuration: { except: ["/replicas"] },
    };
    const source = { issuer: "https://gitlab.com", repository_id: "74", ref: "refs/tags/v*" };
    const trusted = { trust_ids: await makeTrusts(), repository_id: "1", ref: "refs/heads/main" };
    await protect({ from, sources: [source, trusted] });
    const page = await openForm({ expectedProblem: FAILED_REQUEST });
    const before = page.getByRole("region", { name: "Must have run in" });
    expect(await before.getByLabel("staging").isChecked()).toBe(true);
    expect(await before.getByLabel("For at least", { exact: true }).inputValue()).toBe("90");
    const sources = page.getByRole("region", { name: "Only from CI" });
    const second = sources.getByRole("group", { name: "Repository 2" });
    await second.getByLabel("Ref", { exact: true }).fill("main");
    await page.getByRole("button", { name: "Save" }).click();
    await second.getByText("Send a full ref").waitFor();
    await second.getByLabel("Ref", { exact: true }).fill("refs/heads/next");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Save" }).waitFor({ state: "detached" });
    expect(await protection()).toMatchObject({
      from,
      sources: [source, { ...trusted, ref: "refs/heads/next" }],
    });
  });

  it("are merged in the form with what somebody else has saved meanwhile", async () => {
    await protect({ group: "production" });
    const page = await openForm({ expectedProblem: FAILED_REQUEST });
    await page.getByLabel("Group").fill("other");
    await protect({ group: "production", exempt: ["restart"] });
    const bar = page.getByRole("region", { name: "Unsaved changes" });
    await bar.getByRole("button", { name: "Save" }).click();
    await bar.getByText("Somebody else has saved it meanwhile").waitFor();
    await bar.getByRole("region", { name: "What the others have changed" }).waitFor();
    expect((await protection()).group).toBe("production");
    await bar.getByRole("button", { name: "Add it to the form" }).click();
    const exempt = page.getByRole("region", { name: "Exempt" });
    await expect.poll(() => exempt.getByRole("switch").isChecked()).toBe(true);
    await bar.getByRole("button", { name: "Save" }).click();
    await bar.waitFor({ state: "detached" });
    expect(await protection()).toMatchObject({ group: "other", exempt: ["restart"] });
    await page.getByLabel("Group").fill("third");
    await bar.getByRole("button", { name: "Discard" }).click();
    await bar.waitFor({ state: "detached" });
    expect(await page.getByLabel("Group").inputValue()).toBe("other");
  });

  it("are edited as JSON in the second tab, with the change before it is saved, and both changes if two edit", async () => {
    await protect({ group: "production" });
    const page = await openForm({ expectedProblem: FAILED_REQUEST });
    await page.getByLabel("Group").fill("unsaved");
    const tabs = page.getByRole("navigation", { name: "Editor" });
    await tabs.getByRole("link", { name: "JSON" }).click();
    expect(page.url()).toMatch(/\?view=json$/);
    const field = page.getByRole("textbox", { name: "Rules" });
    await field.fill("{");
    await page.getByText("JSON at position 1").waitFor();
    const save = page.getByRole("button", { name: "Save" });
    await save.click({ force: true });
    await field.fill('{"group": "other", "windows": 1}');
    await page.getByText("/group").locator("visible=true").first().waitFor();
    await save.click();
    await page.getByRole("alert").getByText("windows").waitFor();
    await protect({ group: "production", exempt: ["restart"] });
    await field.fill('{"group": "other"}');
    await save.click();
    await page.getByText("Somebody else has saved it meanwhile").waitFor();
    await page.getByRole("heading", { name: "What the others have changed" }).waitFor();
    await page.getByText('/exempt ["restart"]').first().waitFor();
    expect((await protection()).group).toBe("production");
    await tabs.getByRole("link", { name: "Form" }).click();
    expect(await page.getByLabel("Group").inputValue()).toBe("unsaved");
    await tabs.getByRole("link", { name: "JSON" }).click();
    await field.fill('{"group": "other", "exempt": ["restart"]}');
    await save.click();
    await expect.poll(async () => (await protection()).group).toBe("other");
    expect(await protection()).toMatchObject({ group: "other", exempt: ["restart"] });
    await tabs.getByRole("link", { name: "Form" }).click();
    await expect.poll(() => page.getByLabel("Group").inputValue()).toBe("other");
  });

  it("are beside the freezes that are active or planned there, and nowhere else", async () => {
    const freezes = `/v1/projects/${project.projectId}/freezes`;
    const until = { reason: "Holidays", override: [], ends_at: "2099-01-01T00:00:00Z" };
    const started = { ...until, starts_at: "2020-01-01T00:00:00Z" };
    const { id } = await service.owner.call("POST", environmentsPath(), { name: "elsewhere" });
    const made = await Promise.all(
      [
        { ...started, name: "Here", environment_ids: [project.environmentId] },
        { ...until, name: "Later", starts_at: "2098-01-01T00:00:00Z" },
        { ...started, name: "Elsewhere", environment_ids: [id] },
      ].map((each) => service.owner.call("POST", freezes, each)),
    );
    const page = await openForm();
    const list = page.getByRole("list", { name: "Freezes" });
    await list.getByRole("link", { name: "Later" }).waitFor();
    expect(await list.getByRole("link").allTextContents()).toEqual(["Here", "Later"]);
    await list.getByRole("link", { name: "Here" }).click();
    await page.getByText("Elsewhere", { exact: true }).waitFor();
    expect(page.url()).toMatch(/\/freezes$/);
    for (const freeze of made) await service.owner.call("DELETE", `/v1/freezes/${freeze.id}`);
  });

  const environmentsPath = () => `/v1/projects/${project.projectId}/environments`;

  const makeTrusts = async (): Promise<string[]> => {
    const issuer = await LocalIssuer.start();
    onTestFinished(() => issuer.stop());
    const make = async (name: string) =>
      service.owner.call("POST", `/v1/orgs/${service.organizationId}/trusts`, {
        ...{ name, issuer: issuer.url, audience: name },
        conditions: { repository_id: "1" },
        membership_id: mona.membershipId,
      });
    return [(await make("one")).id, (await make("two")).id];
  };

  const protection = () =>
    service.owner.call("GET", `/v1/environments/${project.environmentId}/protection`);
});

describe("freezes in the console", () => {
  it("are created for some environments, hold a deployment, and are deleted", async () => {
    await protect({});
    const { page } = await open(`projects/${project.projectId}/freezes`, olga.client);
    await page.getByText("There are no freezes.").waitFor();
    await page.getByRole("button", { name: "Create a freeze" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Holidays");
    await dialog.getByLabel("Reason").fill("Nobody is there");
    await dialog.getByLabel("Until").fill("2099-01-03T09:00");
    await dialog.getByRole("checkbox", { name: "production" }).check();
    await dialog.getByRole("checkbox", { name: "Mona Maker" }).check();
    await dialog.getByRole("button", { name: "Create" }).click();
    const row = page.getByRole("list", { name: "Freezes" }).getByText("Holidays");
    await row.waitFor();
    await page.locator(".status", { hasText: "Active" }).waitFor();
    const { data } = await olga.client.call("GET", `/v1/projects/${project.projectId}/freezes`);
    expect(data).toMatchObject([
      { environment_ids: [project.environmentId], override: [mona.membershipId] },
    ]);
    const id = await deploy(mona);
    expect((await read(id)).waiting_for[0].code).toBe("freeze");
    await page.getByRole("button", { name: "Delete Holidays" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("There are no freezes.").waitFor();
    await olga.client.call("PATCH", `/v1/deployments/${id}/cancel`);
  });

  it("of all projects are for administrators, and everybody reads them", async () => {
    const path = `/v1/orgs/${service.organizationId}/freezes`;
    const freeze = await service.owner.call("POST", path, {
      name: "Migration",
      reason: "The database moves",
      starts_at: "2098-01-01T00:00:00Z",
      ends_at: "2099-01-01T00:00:00Z",
    });
    const admin = await open("organization/freezes", service.owner);
    await admin.page.locator(".status", { hasText: "Upcoming" }).waitFor();
    await admin.page.getByRole("button", { name: "Delete Migration" }).waitFor();
    const { page } = await open("organization/freezes", vera.client);
    await page.getByText("The database moves").waitFor();
    expect(await page.locator("main").getByRole("button").count()).toBe(0);
    await service.owner.call("DELETE", `/v1/freezes/${freeze.id}`);
  });
});
