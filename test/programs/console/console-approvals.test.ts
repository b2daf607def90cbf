import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { FAILED_REQUEST, openPage, waitUntilLoaded } from "../support/console.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { invite, type Person } from "../support/invited-member.ts";
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

const APPROVALS = { approvals: { required: 2, approvers: { role: "owner" } } };

const deploy = async (by: Person, body: object = {}): Promise<string> => {
  const path = `/v1/environments/${project.environmentId}/deployments`;
  return (await by.client.call("POST", path, body)).id;
};

const buttonsOf = (page: Page) => page.locator(".heading .button").allTextContents();

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
    await page.getByText("Expires in 23 hours").waitFor();
    await page.getByRole("link", { name: "Approve or reject" }).click();
    await page
      .getByRole("heading", { level: 1, name: "Approve: Deployment to production" })
      .waitFor();
    await page.getByText("/replicas 3").waitFor();
    await page.getByLabel("Comment").fill("Read it");
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("1 of 2 approvals").waitFor();
    expect(await page.getByRole("link", { name: "Approve or reject" }).count()).toBe(0);
    await page.getByRole("link", { name: "Timeline" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "Approved by Olga Owner" });
    await row.getByText("Read it").waitFor();
    await page.goto(at(`deployments/${id}/approve`).href);
    await page.getByText("it waits for somebody else's approval").waitFor();
    await page.getByRole("list", { name: "Approvals" }).getByText("Olga Owner").waitFor();
    expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
    const { data } = await olga.client.call("GET", `/v1/deployments/${id}/approvals`);
    expect(data).toMatchObject([{ decision: "approve", comment: "Read it" }]);
  });

  it("shows everything that an approval covers, and what the same did in staging, one click from the first page", async () => {
    const staging = await DeployedEnvironment.make(service, { replicas: 2 });
    const { projectId } = staging;
    const { data } = await staging.client.get("/v1/projects/{project_id}/environments", {
      path: { project_id: projectId },
    });
    const production = String(data.find(({ id }) => id !== staging.id)?.id);
    const rules = {
      approvals: { required: 1, approvers: { role: "owner" } },
      from: { environment_ids: [staging.id], minimum_seconds: 0 },
    };
    await service.owner.call("PUT", `/v1/environments/${production}/protection`, rules);
    const [older, newer] = ["aa", "bb"].map((digits) => ({
      git: {
        ...{ provider: "github", installation_id: "1", repo_id: "2", owner: "acme", repo: "shop" },
        ref: "refs/heads/main",
        commit: { author: {}, committer: {}, message: `Ship ${digits}`, sha: digits.repeat(20) },
      },
      registry: { image: `ghcr.io/acme/shop:${digits}` },
    }));
    await staging.deploy({ source: newer as never });
    const started = await staging.start();
    await started.complete("succeeded");
    const alarms = `/v1/stacks/${started.stackIds[0]}/alarms/latency`;
    await service.owner.call("PUT", alarms, { state: "alarm", reason: "Above 800 ms" });
    const maker = await invite(service, "Greta", { projectId, role: "contributor" });
    const into = `/v1/environments/${production}/deployments`;
    const live = await service.owner.call("POST", into, { source: older });
    // It ran before there were rules.
    await service.d1
      .prepare(
        "update deployments set status = 'succeeded', started_at = created_at, finished_at = created_at where id = ?1",
      )
      .bind(live.id)
      .run();
    await staging.client.post("/v1/environments/{environment_id}/variables", {
      path: { environment_id: production },
      body: { name: "LEVEL", storage_method: "string", value: "canary" },
    });
    const patch = [{ op: "add", path: "/replicas", value: 8 }];
    const reason = "Black Friday";
    const { id } = await maker.client.call("POST", into, { source: newer, patch, reason });
    const { page } = await open("", service.owner);
    const waiting = page.getByRole("list", { name: "Needs attention" });
    await waiting.getByRole("link").first().click();
    await page.waitForURL(`**/deployments/${id}/approve`);
    const main = page.getByRole("main");
    await main.getByRole("list", { name: "In other environments" }).waitFor();
    const text = String(await main.textContent());
    for (const part of [
      ...["Greta", reason, "0 of 1 approval", "Expires in 23 hours"],
      ...["Ship aa", "ghcr.io/acme/shop:aa", "Ship bb", "ghcr.io/acme/shop:bb"],
      ...["/replicas 8", "Stacksweb", "aws · 123456789012 · eu-central-1"],
      "Changed variablesLEVEL",
      ...["staging: live for", "web: latency", "Above 800 ms"],
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain("canary");
    const compare = main.getByRole("link", { name: "Compare the commits" });
    expect(await compare.getAttribute("href")).toContain(
      `/compare/${"aa".repeat(20)}...${"bb".repeat(20)}`,
    );
    await main.getByRole("button", { name: "Approve and deploy" }).click();
    await page.waitForURL(`**/deployments/${id}`);
    const { data: approvals } = await service.owner.call("GET", `/v1/deployments/${id}/approvals`);
    expect(approvals).toMatchObject([{ decision: "approve" }]);
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
    await expectButtons(service.owner, ["Approve or reject", "Override", "Cancel"]);
    await expectButtons(olga.client, ["Cancel"]);
    await expectButtons(vera.client, []);
    const { page } = await open(`deployments/${id}/approve`, olga.client);
    await page.getByText("You can't approve your own deployment.").waitFor();
    expect(
      await page
        .getByRole("main")
        .getByRole("button", { name: /pprove|eject/ })
        .count(),
    ).toBe(0);
  });

  it("is not approved if something else would start than what was shown", async () => {
    await protect(APPROVALS);
    const id = await deploy(mona, { patch: [{ op: "add", path: "/replicas", value: 5 }] });
    const { page } = await open(`deployments/${id}/approve`, service.owner, {
      expectedProblem: FAILED_REQUEST,
    });
    await page.getByText("/replicas 5").waitFor();
    const path = `/v1/environments/${project.environmentId}`;
    const { name } = await service.owner.call("GET", path);
    await service.owner.call("PUT", path, { name, configuration: { image: "other" } });
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("would start something else").waitFor();
    const { data } = await service.owner.call("GET", `/v1/deployments/${id}/approvals`);
    expect(data).toEqual([]);
  });

  it("is rejected with the palette and the keyboard alone, and says by whom and why", async () => {
    await protect(APPROVALS);
    const id = await deploy(mona);
    const { page } = await open(`deployments/${id}`, service.owner);
    await page.getByRole("link", { name: "Approve or reject" }).waitFor();
    const runCommand = async (name: string) => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type(name);
      await page.keyboard.press("Enter");
    };
    await runCommand("approve or reject");
    await page.getByRole("button", { name: "Reject…" }).waitFor();
    await runCommand("reject");
    const dialog = page.getByRole("dialog", { name: "Reject" });
    await dialog.waitFor();
    await page.keyboard.press("Enter");
    expect((await read(id)).status).toBe("queued");
    await page.keyboard.type("Not on a Friday");
    await page.keyboard.press("Enter");
    await page.locator("h1 ~ .status", { hasText: "Canceled" }).waitFor();
    await page.getByText("Deployment canceled: rejected.").waitFor();
    expect((await read(id)).failure_reason).toBe("rejected");
    await page.getByRole("link", { name: "Timeline" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "Rejected by" });
    await row.getByText("Not on a Friday").waitFor();
    await page.goto(at(`deployments/${id}/approve`).href);
    await page.waitForURL(`**/deployments/${id}`);
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
    await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
    expect(page.url()).toContain(`${id}/approve`);
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
