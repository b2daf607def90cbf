import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";

/** A page of the reference in a browser, until the test finishes. */
export interface OpenedPage {
  page: Page;
  /** Errors on the console, exceptions, and violations of the content security policy. */
  problems: string[];
}

const WIDE = { width: 1280, height: 800 };

export async function openPage(
  browser: Browser,
  url: URL,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  // Chromium reports violations of the policy as errors too.
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  await page.goto(url.href);
  return { page, problems };
}

/** The paths of all pages, as the contents list them. */
export async function readPaths(service: URL): Promise<string[]> {
  const text = await (await fetch(new URL("/docs", service))).text();
  const [contents = ""] = /<nav id="contents"[\s\S]*?<\/nav>/.exec(text) ?? [];
  const paths = [...contents.matchAll(/href="([^"#]+)"/g)].map(([, path = ""]) => path);
  return [...new Set(paths)];
}
