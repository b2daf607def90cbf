import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  FAILED_REQUEST,
  measureOverflow,
  openPage,
  WIDE,
  waitUntilLoaded,
} from "../support/console.ts";
import { LocalIssuer } from "../support/issuer.ts";
import { TestProject } from "../support/project.ts";
import { useService } from "../support/service.ts";

const PHONE = { width: 390, height: 844 };

const service = useService({ ALLOW_INSECURE_WEBHOOKS: "true" });
let project: TestProject;

beforeAll(async () => {
  project = await TestProject.make(service);
});

const at = (path: string) => new URL(`/console/${path}`, service.pages);
const open = (path: string, options: object = {}) =>
  openPage(at(path), {
    ...{ apiKey: service.owner.key, expectedProblem: FAILED_REQUEST },
    ...options,
  });

describe("a console that cannot reach the service", () => {
  it("starts again with a button, and when the browser is online again", async () => {
    const { page } = await open("");
    await waitUntilLoaded(page);
    for (const retry of ["button", "event"]) {
      await page.route("**/v1/**", (route) => route.abort());
      await page.reload();
      await page.getByText("The service has not responded.").waitFor();
      await page.unroute("**/v1/**");
      if (retry === "button") await page.getByRole("button", { name: "Retry" }).click();
      else await page.evaluate("dispatchEvent(new Event('online'))");
      await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor();
      expect(await page.getByRole("button", { name: "Retry" }).count()).toBe(0);
    }
  });

  it("says so once, and says each other error where it belongs", async () => {
    const { page } = await open(`environments/${project.environmentId}`);
    await waitUntilLoaded(page);
    // The page is loaded; each of its parts fails when the browser reads it the next time.
    await page.route(/\/v1\/environments\/[^/]+\/(stacks|deployments)/, (route) => route.abort());
    await page.getByRole("link", { name: "Stacks" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByRole("link", { name: "Deployments" }).click();
    await expect
      .poll(() => page.getByRole("alert").allTextContents())
      .toEqual([expect.stringContaining("The service has not responded.")]);
    await page.unrouteAll();
    await page.route(/\/v1\/environments\/[^/]+\/(stacks|deployments)/, (route) =>
      route.fulfill({
        status: 403,
        json: {
          code: "unauthorized",
          message: `Not for ${route.request().url().split("/").at(-1)}.`,
        },
      }),
    );
    await page.reload();
    await expect.poll(() => page.getByRole("alert").count()).toBeGreaterThan(0);
    const alerts = await page.getByRole("alert").allTextContents();
    expect(alerts.join()).not.toContain("has not responded");
  });
});

describe("a path of the console that does not exist", () => {
  it("is said to be none, also as a tab", async () => {
    const { page } = await open("");
    const wrong = [
      "nothing",
      "organization/nothing",
      `projects/${project.projectId}/nothing`,
      `environments/${project.environmentId}/nothing`,
    ];
    for (const path of wrong) {
      await page.goto(at(path).href);
      await page.getByRole("heading", { name: "There is no such page", level: 1 }).waitFor();
      expect(await page.getByText("do not allow").count()).toBe(0);
    }
    await page.goto(at("organization/usage").href);
    await page.getByRole("heading", { name: "Usage" }).first().waitFor();
  });
});

describe("the header of the console", () => {
  it("is one row on a phone, without the key of a keyboard", async () => {
    const { page } = await open("", { viewport: PHONE });
    await waitUntilLoaded(page);
    const heightOf = async () => (await page.locator("header.bar").boundingBox())?.height ?? 0;
    const narrow = await heightOf();
    expect(await page.locator("header kbd").isVisible()).toBe(false);
    await page.setViewportSize({ width: 320, height: 700 });
    expect(await heightOf()).toBe(narrow);
    expect(await measureOverflow(page)).toBeLessThanOrEqual(0);
    await page.setViewportSize(WIDE);
    expect(await page.locator("header kbd").isVisible()).toBe(true);
    expect(await heightOf()).toBeLessThan(narrow * 1.5);
    for (const label of ["Projects", "Runners", "Organization"]) {
      expect(await page.getByRole("navigation", { name: "Main" }).getByText(label).count()).toBe(1);
    }
  });

  it("leads to the documentation", async () => {
    const { page } = await open("");
    await waitUntilLoaded(page);
    await page.locator(".bar .end .button").last().click();
    await page.getByRole("dialog").getByRole("link", { name: "Documentation" }).click();
    await page.waitForURL("**/docs");
  });
});

describe("the palette of the console", () => {
  it("finds projects that no page has loaded", async () => {
    for (let count = 0; count < 3; count += 1) {
      await service.owner.call("POST", "/v1/projects", { name: `palette ${count}` });
    }
    const { page } = await open("runners");
    await waitUntilLoaded(page);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("palette");
    const options = page.getByRole("option");
    await expect
      .poll(() => options.allTextContents())
      .toEqual(["palette 2Project", "palette 1Project", "palette 0Project"]);
    await page.keyboard.type(" 1");
    await expect.poll(() => options.allTextContents()).toEqual(["palette 1Project"]);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "palette 1", level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("no such project");
    await page.getByText("Nothing has this name.").waitFor();
  });
});

describe("the dialog that creates a trust", () => {
  it("offers what its target has: boundaries for an account, and a lifetime for both", async () => {
    const { organization } = await service.owner.call("GET", "/v1/whoami");
    const org = `/v1/orgs/${organization.id}`;
    const account = await service.owner.call("POST", `${org}/service-accounts`, {
      name: "deployer",
      role: "member",
    });
    const pool = await service.owner.call("POST", `${org}/runner-pools`, {
      name: "builders",
      environment_ids: [project.environmentId],
    });
    const issuer = await LocalIssuer.start();
    onTestFinished(() => issuer.stop());
    const { page } = await open("organization/trusts");
    const create = async (name: string, subject: string, fill: () => Promise<unknown>) => {
      await page.getByRole("button", { name: "Create a trust" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Name").fill(name);
      await dialog.getByLabel("Issuer").fill(issuer.url);
      await dialog.getByLabel("Conditions").fill("repository = acme/shop");
      await dialog.getByLabel("Gives keys").selectOption({ label: subject });
      await fill();
      await dialog.getByRole("button", { name: "Create" }).click();
      await page.getByText("Trust created.").waitFor();
      await dialog.waitFor({ state: "detached" });
    };
    const dialog = page.getByRole("dialog");
    await create("for an account", "deployer", async () => {
      await dialog.getByLabel("Each is valid for").selectOption("5 minutes");
      await dialog.getByLabel("deployments:write").check();
      await dialog.getByLabel("Only this project").selectOption(project.projectId);
      await dialog.getByLabel("production").check();
    });
    await page.getByRole("button", { name: "Create a trust" }).click();
    await dialog.getByLabel("Name").fill("for nobody");
    await dialog.getByLabel("Issuer").fill("http://127.0.0.1:9");
    await dialog.getByLabel("Conditions").fill("repository = acme/shop");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByRole("alert").waitFor();
    const text = await dialog.textContent();
    expect(text?.split("The issuer's keys cannot be read.")).toHaveLength(2);
    expect(await dialog.getByRole("alert").textContent()).toContain("Correct what is not accepted");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await create("for a pool", "Pool builders", async () => {
      expect(await dialog.getByLabel("deployments:write").count()).toBe(0);
      expect(await dialog.getByLabel("Only this project").count()).toBe(0);
    });
    const { data } = await service.owner.call("GET", `${org}/trusts?sort_by=created_at`);
    expect(data).toMatchObject([
      {
        name: "for an account",
        membership_id: account["membership_id"],
        ttl_seconds: 300,
        scopes: ["deployments:write"],
        project_ids: [project.projectId],
        environment_ids: [project.environmentId],
      },
      { name: "for a pool", pool_id: pool["id"], ttl_seconds: 900 },
    ]);
  });
});
