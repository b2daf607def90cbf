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
    this.#rules = { ...rules, ...NO_COLOR_RULES };
  }

  /** What is wrong with the page, which it leaves light and wide. */
  async check(page: Page): Promise<string[]> {
    const problems: string[] = [];
    for (const [{ colorScheme, size, isFirst }, seen] of this.#seen) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(size);
      const found = isFirst ? await findViolations(page, this.#rules) : [];
      found.push(...(await findColorViolations(page, seen)));
      const overflow = await measureOverflow(page);
      if (overflow > 0) found.push(`overflows by ${overflow} px`);
      problems.push(...found.map((each) => `${colorScheme}, ${size.width} px: ${each}`));
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize(WIDE);
    return problems;
  }
}
