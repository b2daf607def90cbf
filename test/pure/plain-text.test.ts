import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toPlainJson, toPlainText } from "../../packages/cli/src/plain-text.ts";
import { joinNames } from "../../packages/console/src/format.ts";
import { interpolate } from "../../packages/runner/src/executors/interpolation.ts";
import { EXECUTORS } from "../../packages/runner/src/executors/list.ts";
import { planStacks } from "../../packages/runner/src/executors/stack-plans.ts";
import { findHidden } from "../../src/lib/hidden-characters.ts";
import { stackInput } from "../programs/support/stack-input.ts";

const VISIBLE = ["plain", "خانه‌ها", "क्‍ष", "👩‍💻 🏳️‍🌈 ❤️ ☎︎ 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👍🏽 🇩🇪", "שלום"];

describe("a text of others on a terminal and in the console", () => {
  it.each(VISIBLE)("is shown as it is: %s", (text) => {
    expect(toPlainText(text)).toBe(text);
    expect(toPlainJson(JSON.stringify(text))).toBe(JSON.stringify(text));
  });

  it.each([
    ["a\u200bb", "a\\u200bb"],
    ["a\u00adb", "a\\xadb"],
    ["\ufeffa\u2028", "\\ufeffa\\u2028"],
    ["a\u202eb\u2066", "a\\u202eb\\u2066"],
    ["🏴\u{e0061}\u{e007f}", "🏴\\u{e0061}\\u{e007f}"],
    ["a \u200d b\u200c", "a \\u200d b\\u200c"],
    ["a\u200d\ufe0f a\u200c\u3164", "a\\u200d\\ufe0f a\\u200c\\u3164"],
    ["a\ufe0f\u200d❤", "a\\ufe0f\\u200d❤"],
  ])("has its hidden characters as escapes: %j", (text, shown) => {
    expect(toPlainText(text)).toBe(shown);
  });

  it("has no hidden character left, and the same JSON", () => {
    const part = fc.constantFrom(
      ..."a1 🏴❤👍\u200b\u200c\u200d\u202e\ufe0f\u{e0061}\u{e007f}\u20e3\u001b",
    );
    fc.assert(
      fc.property(fc.oneof(fc.array(part), fc.array(fc.string({ unit: "binary" }))), (parts) => {
        const text = parts.join("");
        expect(findHidden(toPlainText(text))).toBe(undefined);
        const json = toPlainJson(JSON.stringify(text));
        expect(findHidden(json)).toBe(undefined);
        expect(JSON.parse(json)).toBe(text);
      }),
    );
  });

  it("isolates names that are written from right to left, where they share a text", () => {
    expect(joinNames(["shop", "production"], " / ")).toBe("shop / production");
    expect(joinNames(["שלום", "2"], " / ")).toBe("\u2068שלום\u2069 / 2");
  });
});

describe("a stack's name, which the service stores in NFC", () => {
  const [written, stored] = ["cafe\u0301", "café"];

  it("finds its settings and its outputs, as somebody has written it", () => {
    const configuration = { stacks: { [written]: { executor: "none" } } };
    const input = stackInput(stored, { configuration });
    const options = { command: "true", executors: EXECUTORS, repositories: [] };
    expect(planStacks([input], options)).toMatchObject({ failure_reason: "executor_missing" });
    expect(planStacks([stackInput("other", { configuration })], options)).toEqual(new Map());
    const stack = { ...input.stack, outputs: { url: "https://x" } };
    const values = { ...input, stack, stacks: [stack], source: undefined, variables: [] };
    expect(interpolate(`\${outputs.${written}.url}`, values, 100)).toBe("https://x");
  });
});
