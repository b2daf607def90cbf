import type { Page } from "playwright-core";
import { findColorViolations, findViolations, NO_COLOR_RULES, type Rules } from "./axe.ts";
import { measureOverflow, NARROW, WIDE } from "./console.ts";

/** The color scheme decides only colors: the first at each width checks all other rules. */
const COMBINATIONS = [
  { colorScheme: "light", size: WIDE, isFirst: true },
  { colorScheme: "dark", size: WIDE, isFirst: false },
  { colorScheme: "dark", size: NARROW, isFirst: true },
  { colorScheme: "light", size: NARROW, isFirst: false },
] as const;

/** Checks pages with axe in each color scheme, wide and narrow. */
export class PageAudit {
  readonly #rules: Rules;
  /** The styles of texts whose colors have been checked, of each combination. */
  readonly #seen = new Map(COMBINATIONS.map((each) => [each, new Set<string>()]));

  constructor(rules: Rules = {}) {
    this.#rules = rules;
  }

  /** What is wrong with the page, which it leaves light and wide. */
  async check(page: Page): Promise<string[]> {
    const problems: string[] = [];
    for (const [combination, seen] of this.#seen) {
      const { colorScheme, size } = combination;
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(size);
      const found = await this.#checkNow(page, combination, seen);
      problems.push(...found.map((each) => `${colorScheme}, ${size.width} px: ${each}`));
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize(WIDE);
    return problems;
  }

  async #checkNow(
    page: Page,
    combination: (typeof COMBINATIONS)[number],
    seen: Set<string>,
  ): Promise<string[]> {
    // Every text once, and each style of a text in every combination.
    const [first] = COMBINATIONS;
    const rules = combination === first ? this.#rules : { ...this.#rules, ...NO_COLOR_RULES };
    const found = combination.isFirst ? await findViolations(page, rules) : [];
    if (combination !== first) found.push(...(await findColorViolations(page, seen)));
    const overflow = await measureOverflow(page);
    return overflow > 0 ? [...found, `overflows by ${overflow} px`] : found;
  }
}
