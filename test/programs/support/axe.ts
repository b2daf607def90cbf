import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** axe would copy the HTML of every element that it checks. A violation names its element by a selector. */
const WITHOUT_HTML = "axe.configure({ noHtml: true })";

const IS_LOADED = `typeof window.axe?.run === "function"`;

/** Those that depend on the color scheme. The tag `cat.color` also has a rule of level AAA. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** Those that depend on where things are, besides the colors. */
const LAYOUT_RULES = ["scrollable-region-focusable", "target-size"];

/** By the names of rules. */
export type Rules = Readonly<Record<string, { enabled: boolean }>>;

export const NO_COLOR_RULES: Rules = Object.fromEntries(
  COLOR_RULES.map((rule) => [rule, { enabled: false }]),
);

const FIND_VIOLATIONS = `(context, options) =>
  axe.run(context, { preload: false, reporter: "no-passes", ...options }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, any, all, none }) => {
        const reasons = [...any, ...all, ...none].map(({ message }) => message);
        return id + ": " + target.join(" ") + ": " + reasons.join(" ");
      }),
    ),
  )`;

/** An element for each style of text that `seen` does not have. Leaves out what the color rules leave out. */
const FIND_NEW_STYLES = `(seen) => {
  const styles = new Map();
  const backgrounds = new Map();
  const backgroundOf = (element) => {
    if (!element) return "";
    if (!backgrounds.has(element)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      const below = backgroundOf(element.parentElement);
      const isSeenThrough = backgroundColor === "rgba(0, 0, 0, 0)" && backgroundImage === "none" && opacity === "1";
      const own = [backgroundColor, backgroundImage, opacity, below].join();
      backgrounds.set(element, isSeenThrough ? below : own);
    }
    return backgrounds.get(element);
  };
  const linkStyleOf = (element) => {
    const link = element.closest("a");
    if (!link) return "";
    const isInText = [...link.parentElement.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    return [getComputedStyle(link).textDecorationLine, getComputedStyle(link.parentElement).color, isInText].join();
  };
  const add = (element) => {
    if (element.closest("[aria-hidden=true]") || !element.checkVisibility({ visibilityProperty: true })) return;
    const { color, fontSize, fontWeight, textShadow, position, clipPath } = getComputedStyle(element);
    // As in WCAG, whose contrast of large text is another: 18 points, or 14 in bold.
    const isLarge = parseFloat(fontSize) * 0.75 >= (Number(fontWeight) >= 700 ? 14 : 18);
    const style = [color, isLarge, textShadow, position, clipPath, linkStyleOf(element), backgroundOf(element)].join();
    if (seen.has(style)) return;
    const known = styles.get(style);
    // A color rule also visits what is inside.
    if (!known || element.childElementCount < known.childElementCount) styles.set(style, element);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) if (texts.currentNode.data.trim().length > 1) add(texts.currentNode.parentElement);
  document.querySelectorAll("input, select, textarea").forEach(add);
  return styles;
}`;

/** The violations of axe in the page as it is now. Loads axe once for each document: this takes as long as a small run. */
export async function findViolations(page: Page, rules: Rules = {}): Promise<string[]> {
  if (!(await page.evaluate(IS_LOADED))) await page.evaluate(`${SOURCE};${WITHOUT_HTML}`);
  return page.evaluate(`(${FIND_VIOLATIONS})(document, ${JSON.stringify({ rules })})`);
}

/** Those of the rules that depend on where things are, once axe is loaded. */
export function findLayoutViolations(page: Page, rules: Rules): Promise<string[]> {
  const values = LAYOUT_RULES.filter((rule) => rule !== "target-size" || rules[rule]?.enabled);
  const options = JSON.stringify({ runOnly: { type: "rule", values } });
  return page.evaluate(`(${FIND_VIOLATIONS})(document, ${options})`);
}

/**
 * The violations of the color rules, once axe is loaded, by texts whose style is not in `seen`, which gets it. A run
 * takes as long for one text as for all of a page, and most pages have no style that an earlier one does not have.
 */
export async function findColorViolations(page: Page, seen: Set<string>): Promise<string[]> {
  const options = JSON.stringify({ runOnly: { type: "rule", values: COLOR_RULES } });
  const { styles, violations } = await page.evaluate<Record<"styles" | "violations", string[]>>(
    `(async () => {
      const styles = (${FIND_NEW_STYLES})(new Set(${JSON.stringify([...seen])}));
      const texts = [...styles.values()];
      const violations = texts.length > 0 ? await (${FIND_VIOLATIONS})(texts, ${options}) : [];
      return { styles: [...styles.keys()], violations };
    })()`,
  );
  for (const style of styles) seen.add(style);
  return violations;
}
