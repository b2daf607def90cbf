import type { BrowserContextOptions, Page } from "playwright-core";
import { expect, onTestFinished, vi } from "vitest";
import { openBrowser } from "./browser.ts";

export const WIDE = { width: 1280, height: 800 };
/** A response with an error, or none: Chromium reports both. */
export const FAILED_REQUEST = /^Failed to load resource: /;
export const NARROW = { width: 320, height: 700 };

interface PageOptions extends BrowserContextOptions {
  /** Signs in with it. Absent: nobody is signed in. */
  apiKey?: string;
  /** Problems that the test causes. It fails if the page has reported others. Default: none. */
  expectedProblem?: RegExp;
}

/** A page of the console or the reference, with cookies of its own, until the test finishes. */
export async function openPage(
  url: URL,
  { apiKey, expectedProblem, ...options }: PageOptions = {},
): Promise<{ page: Page }> {
  const browser = await openBrowser();
  const context = await browser.newContext({ viewport: WIDE, ...options });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(300_000);
  if (apiKey !== undefined) {
    const sessions = new URL("/v1/sessions", url).href;
    const response = await context.request.post(sessions, { data: { api_key: apiKey } });
    if (!response.ok()) throw new Error(`The sign-in ended with ${response.status()}.`);
  }
  const page = await context.newPage();
  /** Errors on the console, exceptions, and violations of the content security policy. */
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  // Chromium reports violations of the policy, and responses with an error, as errors too.
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  onTestFinished(() => {
    expect(problems.filter((each) => !expectedProblem?.test(each))).toEqual([]);
  });
  await page.goto(url.href);
  return { page };
}

/** Waits until nothing is being loaded: no skeleton is left. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator("h1").waitFor();
  const pending = page.locator("[aria-busy=true]");
  await vi.waitUntil(async () => (await pending.count()) === 0, { timeout: 300_000 });
}

/** By how many pixels the page is wider than the window. */
export function measureOverflow(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - window.innerWidth");
}
