import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page, Request } from "playwright-core";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { openPage, waitUntilLoaded } from "../support/console.ts";
import { makeConsoleRecords } from "../support/console-records.ts";
import { PageAudit } from "../support/page-audit.ts";
import { useService } from "../support/service.ts";
import { visitInTabs } from "../support/tabs.ts";

const service = useService();
let records: Awaited<ReturnType<typeof makeConsoleRecords>>;

beforeAll(async () => {
  records = await makeConsoleRecords(service);
});

const at = (path: string) => new URL(`/console/${path}`, service.pages);

async function openAsOwner(path: string) {
  const opened = await openPage(at(path), {
    apiKey: service.owner.key,
    // A color in transition has less contrast.
    reducedMotion: "reduce",
  });
  await waitUntilLoaded(opened.page);
  return opened;
}

const openHome = () => openAsOwner("");

/** Of the table of routes. */
function readPatterns(): string[] {
  const text = readFileSync(join(ROOT, "packages/console/src/pages/routes.tsx"), "utf8");
  return [...text.matchAll(/\[\s*"([^"]*)",\s*\w+,?\s*\]/g)].map(([, pattern = ""]) => pattern);
}

describe("every page of the console", () => {
  it("is among those that are tested", () => {
    const patterns = readPatterns();
    expect(patterns.length).toBeGreaterThan(10);
    const untested = patterns.filter((pattern) => {
      const expression = new RegExp(`^${pattern.replaceAll(/:\w+/g, "[^/]+")}$`);
      return !records.paths.some((path) => expression.test(path));
    });
    expect(untested).toEqual([]);
  });

  it("has no violations of axe, light and dark, wide and narrow; works with the keyboard alone; and reports no problem", async () => {
    const found: Record<string, unknown[]> = {};
    const audit = new PageAudit(records.paths, WITH_TARGET_SIZE);
    await visitInTabs(records.paths, openHome, async (page, path) => {
      await follow(page, path);
      const violations = (await audit.check(page, path)).filter((each) => !LINE_NUMBER.test(each));
      const wrong = [...violations, ...(await tabThrough(page))];
      if (wrong.length > 0) found[path] = wrong;
      expect(await page.evaluate("window.harmed")).toBe(undefined);
    });
    expect(found).toEqual({});
  });

  it("isolates what is written from right to left from the text beside it", async () => {
    const found: Record<string, unknown> = {};
    let isolated = 0;
    await visitInTabs(records.paths, openHome, async (page, path) => {
      await follow(page, path);
      const texts = (await page.evaluate(FIND_RIGHT_TO_LEFT)) as {
        text: string;
        isAlone: boolean;
      }[];
      const mixed = texts.filter(({ isAlone }) => !isAlone).map(({ text }) => text);
      if (mixed.length > 0) found[path] = mixed;
      isolated += texts.length;
    });
    expect(found).toEqual({});
    expect(isolated).toBeGreaterThan(20);
  });

  it("is checked for the colors of each color scheme at each width", async () => {
    const path = "runners";
    const { page } = await openAsOwner(path);
    const audit = new PageAudit([path]);
    for (const scheme of ["light", "dark"]) {
      for (const [width, range] of Object.entries({
        1280: "width > 40rem",
        320: "width < 40rem",
      })) {
        await page.evaluate(`{
          const sheet = new CSSStyleSheet();
          sheet.replaceSync("@media (prefers-color-scheme: ${scheme}) and (${range}) { h1 { color: var(--line); } }");
          document.adoptedStyleSheets = [sheet];
        }`);
        expect(await audit.check(page, path)).toEqual([
          expect.stringMatching(`^${scheme}, ${width} px: color-contrast: h1: `),
        ]);
      }
    }
  });
});

/** Each text in Hebrew, and whether it is alone in an element that isolates it, or has isolates of its own. */
const FIND_RIGHT_TO_LEFT = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const { data: text, parentElement: parent } = walker.currentNode;
    if (!/[\\u0590-\\u05ff]/.test(text) || !parent.checkVisibility()) continue;
    const others = [...parent.childNodes].filter((each) => each.textContent.trim() !== "");
    const isIsolated = getComputedStyle(parent).unicodeBidi !== "normal";
    found.push({ text, isAlone: text.includes("\\u2068") || (isIsolated && others.length === 1) });
  }
  return found;
})()`;

/** WCAG 2.2, 2.5.8 (AA). Off by default. */
const WITH_TARGET_SIZE = { "target-size": { enabled: true } };

/** Of the log: its size is that of the line of text beside it, which is an exception of 2.5.8. */
const LINE_NUMBER = /target-size: a\[href\$="#L\d+"\]/;

/** As a link of the console does, without loading the document and axe again. */
async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    history.pushState(null, "", ${JSON.stringify(at(path).pathname)});
    dispatchEvent(new PopStateEvent("popstate"));
    requestAnimationFrame(() => requestAnimationFrame(resolve));
  })`);
  await waitUntilLoaded(page);
}

/** Without those that another control leads to, by arrow keys. */
const FIND_CONTROLS = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((each) => each.checkVisibility() && each.tabIndex >= 0)`;

const TABS_AT_ONCE = 10;

/** Presses Tab until the focus has been everywhere and is back. Returns those without focus, or with one that is not visible. */
async function tabThrough(page: Page): Promise<string[]> {
  await page.evaluate(`{
    window.unreached = new Set(${FIND_CONTROLS});
    window.unseen = [];
    window.isBack = false;
    let first;
    window.stopWatching?.abort();
    window.stopWatching = new AbortController();
    document.addEventListener("focusin", ({ target }) => {
      window.unreached.delete(target);
      // Of a page that has just been opened, to which no key leads.
      if (target.matches("h1")) return;
      window.isBack ||= target === first;
      first ??= target;
      const { outlineStyle, outlineWidth } = getComputedStyle(target);
      if (outlineStyle === "none" || outlineWidth === "0px") window.unseen.push(target);
    }, { signal: window.stopWatching.signal });
    document.activeElement.blur();
  }`);
  const count: number = await page.evaluate("window.unreached.size");
  // Some controls have several parts, and those of the log appear when the focus comes near.
  for (let at = 0; at < 2 * count + 30; at += TABS_AT_ONCE) {
    for (let tab = 0; tab < TABS_AT_ONCE; tab += 1) await page.keyboard.press("Tab");
    if (await page.evaluate("window.isBack && window.unreached.size === 0")) break;
  }
  return page.evaluate("[...window.unreached, ...window.unseen].map((each) => each.outerHTML)");
}

describe("the keyboard", () => {
  it("goes to a page with the palette, and shows the keys", async () => {
    const { page } = await openAsOwner("");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("runn");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Runners", level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    await page.getByRole("heading", { level: 2, name: "Organization", exact: true }).waitFor();
  });

  it("creates a project from the palette, and a dialog returns the focus", async () => {
    const { page } = await openAsOwner("");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("create a proj");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Create a project" }).waitFor();
    await page.keyboard.type("typed project");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "typed project" }).waitFor();
    await page.getByRole("button", { name: "Create an environment" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const focused = () => page.evaluate("document.activeElement.textContent");
    await expect.poll(focused).toBe("Create an environment");
  });

  it("must type the name before data is deleted", async () => {
    const { page } = await openAsOwner("");
    const { id } = await service.owner.call("POST", "/v1/projects", { name: "to delete" });
    await page.goto(at(`projects/${id}/settings`).href);
    await page.getByRole("button", { name: "Delete the project" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Type to delete to confirm").fill("to delet");
    await page.keyboard.press("Enter");
    expect((await service.owner.call("GET", `/v1/projects/${id}`)).name).toBe("to delete");
    await dialog.getByLabel("Type to delete to confirm").fill("to delete");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor();
    await expect(service.owner.call("GET", `/v1/projects/${id}`)).rejects.toThrow("404");
  });
});

describe("an open tab", () => {
  it("polls with If-None-Match while it is visible, far below its rate limit", async () => {
    const { page } = await openPage(new URL("/docs", service.pages), {
      apiKey: service.owner.key,
    });
    await page.clock.install();
    const requests = new ApiRequests(page);
    await page.goto(at(`environments/${records.environment.id}`).href);
    await waitUntilLoaded(page);
    // The name in the path of the page has no skeleton.
    await page.waitForLoadState("networkidle");
    await requests.untilAnswered();
    const loaded = requests.all.length;
    await passMinute(page, requests);
    const polled = requests.all.slice(loaded);
    expect(polled.length).toBeGreaterThan(10);
    expect(polled.length).toBeLessThan(60);
    // On a slow machine, a record may be read for the first time in this minute.
    const repeated = polled.filter(({ isFirst }) => !isFirst);
    expect(repeated.length).toBeGreaterThan(10);
    expect(repeated).toEqual(
      repeated.map(({ url }) => ({ url, isFirst: false, isConditional: true, status: 304 })),
    );
    await setHidden(page, true);
    await requests.untilAnswered();
    const beforeHidden = requests.all.length;
    await passMinute(page, requests);
    expect(requests.all.slice(beforeHidden)).toEqual([]);
    await setHidden(page, false);
    await expect.poll(() => requests.all.length).toBeGreaterThan(beforeHidden);
  });
});

interface ApiRequest {
  url: string;
  /** No earlier request of this URL has had a response. */
  isFirst: boolean;
  isConditional: boolean;
  /** Absent: it is pending. */
  status?: number | "failed";
}

/** The requests of a page to the API. */
class ApiRequests {
  readonly all: ApiRequest[] = [];
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
    const byRequest = new Map<Request, ApiRequest>();
    page.on("request", (request) => {
      const url = request.url();
      if (!new URL(url).pathname.startsWith("/v1/")) return;
      const isFirst = !this.all.some((each) => each.url === url && each.status !== undefined);
      const isConditional = "if-none-match" in request.headers();
      const added: ApiRequest = { url, isFirst, isConditional };
      this.all.push(added);
      byRequest.set(request, added);
    });
    const end = (request: Request, status: number | "failed") => {
      const ended = byRequest.get(request);
      // Chromium also reports a response as failed if the page does not read its body.
      if (ended) ended.status ??= status;
    };
    page.on("response", (response) => end(response.request(), response.status()));
    page.on("requestfailed", (request) => end(request, "failed"));
  }

  /** Waits until every request that the page has begun is known and has a response. */
  async untilAnswered(): Promise<void> {
    // The events of requests arrive in their order.
    const last = this.#page.waitForResponse("**/openapi.json");
    await this.#page.evaluate(`fetch("/openapi.json", { method: "HEAD" }).then(() => undefined)`);
    await last;
    await vi.waitUntil(() => this.all.every(({ status }) => status !== undefined), {
      interval: 5,
      timeout: 300_000,
    });
  }
}

/** In steps, between which responses arrive. */
async function passMinute(page: Page, requests: ApiRequests): Promise<void> {
  for (let second = 0; second < 60; second += 1) {
    await page.clock.runFor(1_000);
    await requests.untilAnswered();
  }
}

function setHidden(page: Page, isHidden: boolean): Promise<unknown> {
  return page.evaluate(`Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));`);
}

describe("the log in the console", () => {
  it("shows hostile text as text, and hidden characters as escapes", async () => {
    const { page } = await openAsOwner(`deployments/${records.deploymentId}`);
    const log = page.getByRole("log");
    await log.getByText('"><img src=x onerror="window.harmed=1">').waitFor();
    expect(await log.locator("img, script, iframe").count()).toBe(0);
    expect(await log.getByRole("link", { name: "a link" }).count()).toBe(0);
    expect(await log.locator(".ansi-red").first().textContent()).toBe("red ");
    const text = String(await log.textContent());
    expect(text).toContain("\\u202egnp.");
    expect(text).toContain("zero\\u200bwidth");
    expect(text).toContain("100 %");
    expect(text).not.toContain("50 %");
    expect(text).not.toContain("\u001b");
    await log.getByRole("button", { name: "Show all 200,005 characters" }).click();
    expect(String(await log.textContent()).length).toBeGreaterThan(200_000);
    expect(await page.evaluate("window.harmed")).toBe(undefined);
  });

  it("is searched, jumps to errors, and opens at the line of the URL", async () => {
    const { page } = await openAsOwner(`deployments/${records.deploymentId}#L2`);
    await page.locator("#L2.log-current").waitFor();
    await page.getByRole("button", { name: "Next error" }).click();
    await page.locator("#L7.log-current").waitFor();
    expect(page.url()).toMatch(/#L7$/);
    await page.getByLabel("Search the log").fill("ZERO");
    await page.getByText("1 line", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator("#L5.log-current").waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    expect((await download).suggestedFilename()).toBe(`deployment-${records.deploymentId}.log`);
  });
});
