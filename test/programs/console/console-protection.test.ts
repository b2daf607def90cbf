import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { FAILED_REQUEST, openPage, waitUntilLoaded } from "../support/console.ts";
import { invite, type Person } from "../support/invited-member.ts";
import { TestProject } from "../support/project.ts";
import { type ApiClient, useService } from "../support/service.ts";

const service = useService();
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

const APPROVALS = { approvals: { required: 2, approvers: { role: "owner" } } };

const deploy = async (by: Person, body: object = {}): Promise<string> => {
  const path = `/v1/environments/${project.environmentId}/deployments`;
  return (await by.client.call("POST", path, body)).id;
};

const buttonsOf = (page: Page) => page.locator(".heading button").allTextContents();

/** Until the page has the response of such a URL, and shows it. */
async function untilAnswered(page: Page, url: string): Promise<void> {
  const expression = url.replaceAll("?", "\\\\?");
  await expect
    .poll(() =>
      page.evaluate(
        `performance.getEntriesByType("resource").some(({ name }) => new RegExp("${expression}").test(name))`,
      ),
    )
    .toBe(true);
  await page.evaluate("new Promise((resolve) => setTimeout(resolve, 200))");
}

const read = (id: string) => service.owner.call("GET", `/v1/deployments/${id}`);

describe("a deployment that waits for approvals", () => {
  it("is approved as it was shown, by those who may, and says who has", async () => {
    await protect(APPROVALS);
    const patch = [{ op: "add", path: "/replicas", value: 3 }];
    const id = await deploy(mona, { patch });
    const { page } = await open(`deployments/${id}`, olga.client);
    await page.getByText("0 of 2 approvals by owners of the project").waitFor();
    await page.getByText("Ends without them in 23 hours").waitFor();
    await page.getByRole("button", { name: "Approve" }).click();
    const dialog = page.getByRole("dialog", { name: "Approve" });
    await dialog.getByText("/replicas 3").waitFor();
    await dialog.getByLabel("Comment").fill("Read it");
    await dialog.getByRole("button", { name: "Approve" }).click();
    await page.getByText("1 of 2 approvals").waitFor();
    const approvals = page.getByRole("list", { name: "Approvals" });
    await approvals.getByText("Olga Owner").waitFor();
    await approvals.getByText("Read it").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Approve" }).count()).toBe(0);
    const { data } = await olga.client.call("GET", `/v1/deployments/${id}/approvals`);
    expect(data).toMatchObject([{ decision: "approve", comment: "Read it" }]);
  });

  it("has these buttons for nobody else: not for its creator, nor for who only reads", async () => {
    await protect(APPROVALS);
    const id = await deploy(olga);
    const expectButtons = async (person: ApiClient, buttons: string[]) => {
      const { page } = await open(`deployments/${id}`, person);
      await page.getByText("0 of 2 approvals").waitFor();
      await untilAnswered(page, "/approvals?deployment_id=");
      await waitUntilLoaded(page);
      await expect.poll(() => buttonsOf(page)).toEqual(buttons);
    };
    await expectButtons(service.owner, ["Approve", "Reject", "Override", "Cancel"]);
    await expectButtons(olga.client, ["Cancel"]);
    await expectButtons(vera.client, []);
  });

  it("is not approved if something else would start than what was shown", async () => {
    await protect(APPROVALS);
    const id = await deploy(mona, { patch: [{ op: "add", path: "/replicas", value: 5 }] });
    const { page } = await open(`deployments/${id}`, service.owner, {
      expectedProblem: FAILED_REQUEST,
    });
    await page.getByRole("button", { name: "Approve" }).click();
    const dialog = page.getByRole("dialog", { name: "Approve" });
    await dialog.getByText("/replicas 5").waitFor();
    const path = `/v1/environments/${project.environmentId}`;
    const { name } = await service.owner.call("GET", path);
    await service.owner.call("PUT", path, { name, configuration: { image: "other" } });
    await dialog.getByRole("button", { name: "Approve" }).click();
    await dialog.getByText("would start something else").waitFor();
    const { data } = await service.owner.call("GET", `/v1/deployments/${id}/approvals`);
    expect(data).toEqual([]);
  });

  it("is rejected with the palette and the keyboard alone, and says by whom and why", async () => {
    await protect(APPROVALS);
    const id = await deploy(mona);
    const { page } = await open(`deployments/${id}`, service.owner);
    await page.getByRole("button", { name: "Reject" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("reject");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Reject" }).waitFor();
    await page.keyboard.type("Not on a Friday");
    await page.keyboard.press("Enter");
    await page.locator("h1 ~ .status", { hasText: "Canceled" }).waitFor();
    await page.getByText("The deployment was canceled: rejected.").waitFor();
    await page.getByRole("list", { name: "Approvals" }).getByText("Not on a Friday").waitFor();
    expect((await read(id)).failure_reason).toBe("rejected");
  });
});

describe("an override", () => {
  it("needs a reason, leaves out what is chosen, and stays on the deployment", async () => {
    await protect({ ...APPROVALS, group: "production" });
    const id = await deploy(mona);
    const { page } = await open(`deployments/${id}`, service.owner);
    await page.getByRole("button", { name: "Override" }).click();
    const dialog = page.getByRole("dialog", { name: "Override" });
    expect(await dialog.getByRole("checkbox", { name: "Approvals" }).isChecked()).toBe(true);
    await dialog.getByRole("button", { name: "Override" }).click();
    expect((await read(id)).overridden).toBeUndefined();
    await dialog.getByLabel("Reason").fill("The checkout is down");
    await dialog.getByRole("button", { name: "Override" }).click();
    const mark = page.locator(".note", { hasText: "Overridden by" });
    await mark.getByText("The checkout is down").waitFor();
    expect(await mark.textContent()).toContain("approvals.");
    expect((await read(id)).overridden).toMatchObject({ conditions: ["approvals"] });
    await expect.poll(() => page.getByRole("button", { name: "Override" }).count()).toBe(0);
    await olga.client.call("PATCH", `/v1/deployments/${id}/cancel`);
  });

  it("of a freeze is for whom it names, and for nobody else", async () => {
    await protect({});
    const freezes = `/v1/projects/${project.projectId}/freezes`;
    const freeze = await service.owner.call("POST", freezes, {
      name: "Sale",
      reason: "The busiest day",
      starts_at: "2020-01-01T00:00:00Z",
      ends_at: "2099-01-01T00:00:00Z",
      override: [mona.membershipId],
    });
    const id = await deploy(olga);
    const { page } = await open(`deployments/${id}`, olga.client);
    await page.getByText("The busiest day").waitFor();
    for (const owner of ["orgs", "projects"]) await untilAnswered(page, `/v1/${owner}/.*/freezes`);
    expect(await buttonsOf(page)).toEqual(["Cancel"]);
    const named = await open(`deployments/${id}`, mona.client);
    await named.page.getByRole("button", { name: "Override" }).click();
    await named.page.getByLabel("Reason").fill("Repairs the checkout");
    await named.page.getByRole("dialog").getByRole("button", { name: "Override" }).click();
    await named.page.getByText("Repairs the checkout").waitFor();
    await service.owner.call("DELETE", `/v1/freezes/${freeze.id}`);
    await olga.client.call("PATCH", `/v1/deployments/${id}/cancel`);
  });
});

describe("the first page", () => {
  it("lists what waits for the person, counts it in the title, and leads there", async () => {
    await protect(APPROVALS);
    const id = await deploy(mona, { source: { registry: { image: "shop:42" } } });
    const { page } = await open("", olga.client);
    const list = page.getByRole("list", { name: "Needs attention" });
    await list.getByText("shop:42").waitFor();
    await expect.poll(() => page.title()).toBe("(1) Projects · Longshore");
    await list.getByRole("link", { name: `${project.projectName} / production` }).click();
    await page.getByRole("button", { name: "Approve" }).waitFor();
    expect(page.url()).toContain(id);
    await olga.client.call("POST", `/v1/deployments/${id}/approvals`, { decision: "approve" });
    await page.goto(at("").href);
    await waitUntilLoaded(page);
    await expect.poll(() => page.title()).toBe("Projects · Longshore");
    expect(await list.count()).toBe(0);
    const other = await open("", mona.client);
    await waitUntilLoaded(other.page);
    expect(await other.page.getByText("Needs attention").count()).toBe(0);
  });
});

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

  it("are edited as JSON, with the change before it is saved, and both changes if two edit", async () => {
    await protect({ group: "production" });
    const path = `environments/${project.environmentId}/protection`;
    const { page } = await open(path, olga.client, { expectedProblem: FAILED_REQUEST });
    await page.getByRole("button", { name: "Edit the rules" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit the rules" });
    const field = dialog.getByLabel("Rules", { exact: true });
    await field.fill("{");
    await dialog.getByText("JSON at position 1").waitFor();
    await dialog.getByRole("button", { name: "Save" }).click({ force: true });
    await field.fill('{"group": "other", "windows": 1}');
    await dialog.getByText("/group").first().waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").getByText("windows").waitFor();
    await protect({ group: "production", exempt: ["restart"] });
    await field.fill('{"group": "other"}');
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Somebody else has saved it meanwhile").waitFor();
    await dialog.getByRole("heading", { name: "What the others have changed" }).waitFor();
    await dialog.getByText('/exempt ["restart"]').first().waitFor();
    expect((await protection()).group).toBe("production");
    await field.fill('{"group": "other", "exempt": ["restart"]}');
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("In all environments of group other.").waitFor();
    expect(await protection()).toMatchObject({ group: "other", exempt: ["restart"] });
  });

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
