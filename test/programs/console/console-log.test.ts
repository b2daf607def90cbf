import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { openPage, WIDE, waitUntilLoaded } from "../support/console.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { useService } from "../support/service.ts";

const service = useService();

const PHONE = { width: 390, height: 844 };
/** Longer than the log is wide. */
const LONG = "word ".repeat(80);

const at = (path: string) => new URL(`/console/${path}`, service.pages);

async function open(path: string, { apiKey }: DeployedEnvironment, options: object = {}) {
  const { page } = await openPage(at(path), { apiKey, reducedMotion: "reduce", ...options });
  await waitUntilLoaded(page);
  return page;
}

const lines = (count: number, text: string) => `${text}\n`.repeat(count);

const distanceFromEnd = (page: Page) =>
  page.getByRole("log").evaluate((each) => each.scrollHeight - each.scrollTop - each.clientHeight);

/** Whether a line is within the visible part of the log, and of the window. */
const isVisible = (page: Page, line: number): Promise<boolean> =>
  page.evaluate(`(() => {
    const { top, bottom } = document.getElementById("L${line}").getBoundingClientRect();
    const log = document.querySelector("[role=log]").getBoundingClientRect();
    return top >= log.top && bottom <= log.bottom && bottom <= innerHeight;
  })()`);

/** A deployment whose first stack printed a line that looks like an error, and whose second one failed. */
async function makeFailure(environment: DeployedEnvironment): Promise<string> {
  const { id } = await environment.deploy();
  const started = await environment.start();
  await started.print(0, `0 failed\nError: retried\n${lines(200, LONG)}`);
  await started.report(0, "succeeded");
  await started.print(1, `${lines(200, LONG)}Error: no quota\n${lines(200, LONG)}`);
  await started.report(1, "failed", "The quota is used up.");
  await started.complete("failed");
  return id;
}

const FAILING_LINE = 403;

describe("the log of a failed deployment", () => {
  it("opens at the first error of the stack that failed, in view, with its link in the URL", async () => {
    const environment = await DeployedEnvironment.make(service);
    const id = await makeFailure(environment);
    const page = await open(`deployments/${id}`, environment);
    await page.locator(`#L${FAILING_LINE}.log-current`, { hasText: "Error: no quota" }).waitFor();
    await expect.poll(() => isVisible(page, FAILING_LINE)).toBe(true);
    expect(page.url()).toMatch(new RegExp(`#L${FAILING_LINE}$`));
    expect(await page.evaluate("scrollY")).toBe(0);
    expect(await page.getByLabel("Follow").isChecked()).toBe(false);
  });

  it("is in view after View error from another tab, and on a phone", async () => {
    const environment = await DeployedEnvironment.make(service);
    const id = await makeFailure(environment);
    const page = await open(`deployments/${id}/timeline`, environment, { viewport: PHONE });
    const failure = page.getByRole("region", { name: "Failure" });
    await failure.getByText("worker failed: The quota is used up.").waitFor();
    await failure.getByRole("link", { name: "View error" }).click();
    await page.locator(`#L${FAILING_LINE}.log-current`).waitFor();
    await expect.poll(() => isVisible(page, FAILING_LINE)).toBe(true);
    await page.evaluate("scrollTo(0, 0)");
    await page.getByRole("list", { name: "Stacks" }).getByRole("button", { name: "web" }).click();
    await expect.poll(() => page.locator(`#L${FAILING_LINE}`).count()).toBe(0);
    await failure.getByRole("link", { name: "View error" }).click();
    await expect.poll(() => isVisible(page, FAILING_LINE)).toBe(true);
    expect(page.url()).not.toContain("stack=");
    await page.evaluate("scrollTo(0, 0)");
    await failure.getByRole("link", { name: "View error" }).click();
    await expect.poll(() => isVisible(page, FAILING_LINE)).toBe(true);
  });

  it("follows its end while somebody watches it fail", async () => {
    const environment = await DeployedEnvironment.make(service);
    const { id } = await environment.deploy();
    const started = await environment.start();
    await started.print(0, `Error: retried\n${lines(200, LONG)}`);
    const page = await open(`deployments/${id}`, environment);
    await page.locator("#L201").waitFor();
    await started.print(0, lines(200, LONG));
    await started.complete("failed");
    await page.getByRole("link", { name: "View error" }).waitFor();
    await page.locator("#L401").waitFor();
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(2);
    expect(new URL(page.url()).hash).toBe("");
  });

  it("opens at the last line if it names no error", async () => {
    const environment = await DeployedEnvironment.make(service);
    const { id } = await environment.deploy();
    await environment.run("failed", lines(100, "Creating the bucket"));
    const page = await open(`deployments/${id}`, environment);
    await page.locator("#L100.log-current").waitFor();
  });
});

describe("from the first page", () => {
  it("the failing line is two clicks away at most, and a rollback that runs three", async () => {
    const environment = await DeployedEnvironment.make(service);
    await environment.deploy({ source: { registry: { image: "shop:1" } } });
    await environment.run("succeeded");
    await makeFailure(environment);
    const page = await open("", environment);
    const { name } = await environment.client.get("/v1/projects/{project_id}", {
      path: { project_id: environment.projectId },
    });
    const environments = page.getByRole("list", { name: `Environments of ${name}` });
    let clicks = 0;
    const click = async (target: Locator) => {
      clicks += 1;
      await target.click();
    };
    await click(environments.getByRole("link", { name: "Failed deployment to staging" }));
    await page.locator(`#L${FAILING_LINE}.log-current`).waitFor();
    await expect.poll(() => isVisible(page, FAILING_LINE)).toBe(true);
    expect(clicks).toBeLessThanOrEqual(2);
    await click(
      page
        .getByRole("region", { name: "Failure" })
        .getByRole("button", { name: /^Roll back to shop:1/ }),
    );
    await click(page.getByRole("dialog").getByRole("button", { name: "Roll back", exact: true }));
    expect(clicks).toBe(3);
    await page.getByRole("heading", { level: 1, name: "shop:1" }).waitFor();
    const started = await environment.start();
    await page.locator("h1 ~ .status", { hasText: "In progress" }).waitFor();
    expect((await environment.list())[0]).toMatchObject({ id: started.id, trigger: "rollback" });
    await started.complete("succeeded");
  });
});

describe("the log of a deployment", () => {
  it("opens at the line of the URL, in view, and gives a link to each line", async () => {
    const environment = await DeployedEnvironment.make(service);
    const id = await makeFailure(environment);
    const page = await open(`deployments/${id}#L220`, environment, { viewport: PHONE });
    await page.locator("#L220.log-current").waitFor();
    await expect.poll(() => isVisible(page, 220)).toBe(true);
    await page.locator("#L221 a").click();
    await page.locator("#L221.log-current").waitFor();
    expect(page.url()).toMatch(/#L221$/);
  });

  it("shows the lines of the stack that is clicked, which the URL keeps, and again those of all", async () => {
    const environment = await DeployedEnvironment.make(service);
    const id = await makeFailure(environment);
    const page = await open(`deployments/${id}`, environment);
    const stacks = page.getByRole("list", { name: "Stacks" });
    const [web, worker] = ["web", "worker"].map((name) => stacks.getByRole("button", { name }));
    const names = async () => (await stacks.locator("bdi").allTextContents()).join();
    await expect.poll(names).toBe("web,worker");
    await web?.click();
    await page.locator("#L1").waitFor();
    await page.reload();
    await page.locator("#L1").waitFor();
    expect(await web?.getAttribute("aria-pressed")).toBe("true");
    expect(await page.getByRole("log").getByText("worker", { exact: true }).count()).toBe(0);
    await worker?.click();
    await page.locator(`#L${FAILING_LINE}`).waitFor();
    expect(await page.locator("#L1").count()).toBe(0);
    await worker?.click();
    expect(await worker?.getAttribute("aria-pressed")).toBe("false");
    expect(page.url()).not.toContain("stack=");
  });

  it("shows the end of its log while it grows, and finds lines that arrive later", async () => {
    const source = await DeployedEnvironment.make(service);
    const { id } = await source.deploy();
    const started = await source.start();
    await started.print(0, "needle 1\n".repeat(300));
    const page = await open(`deployments/${id}`, source);
    const log = page.getByRole("log");
    await page.locator("#L300").waitFor();
    await page.getByLabel("Search the log").fill("needle");
    await page.getByText("300 lines", { exact: true }).waitFor();
    await started.print(0, "needle 2\n".repeat(300));
    await page.getByText("600 lines", { exact: true }).waitFor();
    await page.locator("#L600").waitFor();
    const distance = () => distanceFromEnd(page);
    await expect.poll(distance).toBeLessThan(2);
    await log.hover();
    await page.mouse.wheel(0, -2_000);
    await expect.poll(() => page.getByLabel("Follow").isChecked()).toBe(false);
    const reached = await distance();
    await started.print(0, "needle 3\n".repeat(300));
    await page.getByText("900 lines", { exact: true }).waitFor();
    expect(await distance()).toBeGreaterThan(reached + 100);
    await page.getByLabel("Follow").check();
    await page.locator("#L900").waitFor();
    await page.locator("#L890 a").click();
    expect(page.url()).toMatch(/#L890$/);
    await started.complete("succeeded");
    await page.locator("h1 ~ .status", { hasText: "Succeeded" }).waitFor();
  });

  it("reaches its true end when lines wrap, and stays there when they no longer do", async () => {
    const environment = await DeployedEnvironment.make(service);
    const { id } = await environment.deploy();
    const started = await environment.start();
    await started.print(0, lines(600, LONG));
    const page = await open(`deployments/${id}`, environment, { viewport: PHONE });
    await page.locator("#L600").waitFor();
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(2);
    await started.print(0, lines(600, LONG));
    await page.locator("#L1200").waitFor();
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(2);
    const heightOf = () => page.locator("#L1200").evaluate((each) => each.clientHeight);
    const wrapped = await heightOf();
    await page.getByLabel("Wrap").uncheck();
    await expect.poll(heightOf).toBeLessThan(wrapped / 3);
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(2);
    expect(page.url()).toContain("wrap=off");
    await started.complete("succeeded");
  });

  it("counts what a search finds, and which of them is shown", async () => {
    const environment = await DeployedEnvironment.make(service);
    const id = await makeFailure(environment);
    const page = await open(`deployments/${id}`, environment);
    await page.locator(`#L${FAILING_LINE}.log-current`).waitFor();
    await page.getByLabel("Search the log").fill("error:");
    await page.getByText("2 of 2 lines", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("1 of 2 lines", { exact: true }).waitFor();
    await page.locator("#L2.log-current").waitFor();
    await page.getByLabel("Search the log").fill("nothing like it");
    await page.getByText("0 lines", { exact: true }).waitFor();
  });

  it("leaves no blank page below it, however long it is", async () => {
    const environment = await DeployedEnvironment.make(service);
    const id = await makeFailure(environment);
    for (const viewport of [WIDE, PHONE]) {
      const page = await open(`deployments/${id}`, environment, { viewport });
      await page.locator(`#L${FAILING_LINE}.log-current`).waitFor();
      const blank = await page.evaluate(
        `document.documentElement.scrollHeight - scrollY - document.querySelector("main").getBoundingClientRect().bottom`,
      );
      expect(blank).toBeLessThan(1);
    }
  });
});
