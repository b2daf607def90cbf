import type { Page } from "playwright-core";
import { readEffort, sampleOf } from "../../effort.ts";
import {
  findColorViolations,
  findLayoutViolations,
  findViolations,
  NO_COLOR_RULES,
  type Rules,
} from "./axe.ts";
import { measureOverflow, NARROW, WIDE } from "./console.ts";

/**
 * The color scheme decides only colors: the first at each width checks the other rules. The first of all checks them
 * on each page; the other width, which has the same elements in another layout, on a sample of the pages.
 */
const COMBINATIONS = [
  { colorScheme: "light", size: WIDE, others: "all" },
  { colorScheme: "dark", size: WIDE, others: "none" },
  { colorScheme: "dark", size: NARROW, others: "sample" },
  { colorScheme: "light", size: NARROW, others: "none" },
] as const;

type Others = (typeof COMBINATIONS)[number]["others"];

/** Checks pages with axe in each color scheme, wide and narrow. */
export class PageAudit {
  readonly #rules: Rules;
  /** The styles of texts whose colors have been checked, of each combination. */
  readonly #seen = new Map(COMBINATIONS.map((each) => [each, new Set<string>()]));
  readonly #sample: ReadonlySet<string>;

  /** @param paths Of the pages. `EFFORT=narrowStride=1` takes all into the sample, as `EFFORT=full` does. */
  constructor(paths: readonly string[], rules: Rules = {}) {
    this.#rules = { ...rules, ...NO_COLOR_RULES };
    this.#sample = new Set(sampleOf(paths, readEffort().narrowStride, 0));
  }

  /** What is wrong with the page, which it leaves light and wide. */
  async check(page: Page, path: string): Promise<string[]> {
    const problems: string[] = [];
    for (const [{ colorScheme, size, others }, seen] of this.#seen) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(size);
      const found = [
        ...(await this.#checkOthers(page, path, others)),
        ...(await findColorViolations(page, seen)),
      ];
      const overflow = await measureOverflow(page);
      if (overflow > 0) found.push(`overflows by ${overflow} px`);
      problems.push(...found.map((each) => `${colorScheme}, ${size.width} px: ${each}`));
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize(WIDE);
    return problems;
  }

  /** By the rules that do not depend on colors. */
  async #checkOthers(page: Page, path: string, others: Others): Promise<string[]> {
    if (others === "none") return [];
    const isComplete = others === "all" || this.#sample.has(path);
    return isComplete
      ? await findViolations(page, this.#rules)
      : await findLayoutViolations(page, this.#rules);
  }
}
