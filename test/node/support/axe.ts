import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const IS_LOADED = `typeof window.axe?.run === "function"`;

const FIND_VIOLATIONS = `axe.run(document, { preload: false, resultTypes: ["violations"] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => id + ": " + target.join(" ") + ": " + failureSummary),
  ),
)`;

/** The violations of axe in the page as it is now. Loads axe once for each document: this takes as long as a small run. */
export async function findViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate(IS_LOADED))) await page.evaluate(SOURCE);
  return page.evaluate(FIND_VIOLATIONS);
}
