import { beforeAll, describe, expect, it } from "vitest";
import { findViolations } from "../support/axe.ts";
import { FAILED_REQUEST, openPage } from "../support/console.ts";
import { PageAudit } from "../support/page-audit.ts";
import { readPaths } from "../support/reference-page.ts";
import { useService } from "../support/service.ts";
import { visitInTabs } from "../support/tabs.ts";

const service = useService();
let paths: string[];

beforeAll(async () => {
  paths = await readPaths(service.pages);
});

/** The code blocks of all tabs that are wider than their frames. */
const FIND_WIDE_BLOCKS = `[...document.querySelectorAll("[data-tab]")].forEach((each) => { each.hidden = false; });
[...document.querySelectorAll("pre")]
  .filter((each) => each.scrollWidth > each.clientWidth)
  .map((each) => each.getAttribute("aria-label") ?? each.textContent)`;

describe("the pages of the reference", () => {
  it("are those of the tags, the guides, the webhooks and the schemas", () => {
    const expected = [
      "/docs",
      "/docs/projects",
      "/docs/guides/variables",
      "/docs/webhooks",
      "/docs/schemas",
    ];
    expect(paths).toEqual(expect.arrayContaining(expected));
  });

  it("have every target of the search index", async () => {
    const read = async (path: string) => (await fetch(new URL(path, service.pages))).text();
    const targets = new Set<string>(paths);
    for (const path of paths) {
      for (const [, id] of (await read(path)).matchAll(/\sid="([^"]+)"/g))
        targets.add(`${path}#${id}`);
    }
    const index: Record<string, { url: string }[]> = JSON.parse(await read("/docs/search.json"));
    expect(Object.keys(index)).toEqual(["operations", "schemas", "errors", "webhooks", "guides"]);
    const urls = Object.values(index).flatMap((entries) => entries.map(({ url }) => url));
    expect(urls.length).toBeGreaterThan(200);
    expect(urls.filter((url) => !targets.has(url))).toEqual([]);
  });

  it("have no violations of axe, light and dark, wide and narrow; fit the window, as do their code blocks; and report no problems", async () => {
    const open = () => openPage(new URL("/docs", service.pages));
    const found: Record<string, string[]> = {};
    const audit = new PageAudit(paths);
    await visitInTabs(paths, open, async (page, path) => {
      await page.goto(new URL(path, service.pages).href);
      const problems = await audit.check(page, path);
      // Last, because it shows the hidden tabs.
      const blocks = await page.evaluate<string[]>(FIND_WIDE_BLOCKS);
      found[path] = [...problems, ...blocks];
    });
    expect(found).toEqual(Object.fromEntries(paths.map((path) => [path, []])));
  });

  it("have no violations of axe while the search, a form and the errors are open", async () => {
    const { page } = await openPage(new URL("/docs/projects", service.pages), {
      expectedProblem: FAILED_REQUEST,
    });
    const operation = page.locator("#createProject");
    await operation.locator(".errors summary").click();
    await operation.locator(".try summary").click();
    await operation.getByRole("button", { name: "Send POST" }).click();
    await operation.locator(".try pre").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("cre");
    await page.getByRole("option").first().waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findViolations(page)).toEqual([]);
    }
  });

  it("are complete without JavaScript", async () => {
    const options = { javaScriptEnabled: false };
    const { page } = await openPage(
      new URL("/docs/variables#deleteVariable", service.pages),
      options,
    );
    for (const operation of await page.locator("article").all()) {
      for (const language of ["curl", "cli", "typescript"]) {
        expect(await operation.locator(`[data-tab=${language}]`).isVisible()).toBe(true);
      }
      expect(await operation.getByRole("heading", { name: /^Response/ }).count()).toBeGreaterThan(
        0,
      );
    }
    expect(await page.locator("article").count()).toBeGreaterThan(5);
    expect(await page.locator("#contents a").first().isVisible()).toBe(true);
    expect(await page.locator("#deleteVariable").boundingBox()).toMatchObject({
      y: expect.closeTo(0, -2),
    });
    // No control that does nothing.
    expect(
      await page
        .locator("button, input, textarea, #search, [data-try]")
        .filter({ visible: true })
        .count(),
    ).toBe(0);
  });
});
