import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { regexes } from "zod/v4";
import { AccountInput } from "../../src/features/identity/memberships/schemas.ts";
import { line, paragraphs, text } from "../../src/lib/schemas.ts";
import { EMAIL, LINE, PARAGRAPHS, TEXT } from "../../src/lib/text-patterns.ts";

const MAXIMUM = 1_000;
const NUMBER_OF_RUNS = 1_000;

/** Controls, all white space of ECMAScript, and characters next to them. */
const SPECIAL = [
  ..."\0\b\t\n\v\f\r\u001F !~\u007F\u0080\u0085\u009F\u00A0\u00AD\u1680\u180E\u2000\u200A\u200B",
  ..."\u2027\u2028\u2029\u202F\u205F\u2060\u3000\uFEFF\uFFFEaé😀",
];
const unit = fc.oneof(fc.constantFrom(...SPECIAL), fc.string({ unit: "binary", maxLength: 1 }));
const texts = fc.array(unit, { maxLength: 8 }).map((all) => all.join(""));
const anyText = fc.string({ unit: "binary" });

describe("the documented pattern", () => {
  it.each([
    ["a line", line(MAXIMUM), LINE],
    ["a text that is not blank", text(MAXIMUM), TEXT],
    ["paragraphs", paragraphs(MAXIMUM), PARAGRAPHS],
  ])("of %s accepts exactly what the service accepts", (_, schema, pattern) => {
    const documented = new RegExp(pattern.source);
    fc.assert(
      fc.property(fc.oneof(texts, anyText), (value) => {
        expect(documented.test(value)).toBe(schema.safeParse(value).success);
      }),
      { numRuns: NUMBER_OF_RUNS },
    );
  });

  it("of a text treats every character as the service does", () => {
    const schema = text(MAXIMUM);
    const different: number[] = [];
    let accepted = 0;
    for (let code = 0; code <= 0xffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const value = String.fromCharCode(code);
      const { success } = schema.safeParse(value);
      if (TEXT.test(value) !== success) different.push(code);
      if (success) accepted += 1;
    }
    expect(different).toEqual([]);
    expect(accepted).toBeGreaterThan(60_000);
    expect(accepted).toBeLessThan(0x1_0000 - 0x800);
  });

  it("of an e-mail address accepts exactly what the service and the rule of HTML accept", () => {
    const part = fc.string({ unit: fc.constantFrom(..."aZ0_'&/+-.@é"), maxLength: 12 });
    const label = fc.oneof(part, fc.constantFrom("xn--80a1acny", "a".repeat(63), "a".repeat(64)));
    const address = fc.oneof(
      part,
      fc.tuple(part, label, label).map((parts) => `${parts[0]}@${parts[1]}.${parts[2]}`),
      fc.emailAddress(),
    );
    fc.assert(
      fc.property(address, (email) => {
        const accepted = AccountInput.safeParse({ email, name: "Ada" }).success;
        expect(new RegExp(EMAIL.source).test(email)).toBe(accepted);
        expect(regexes.html5Email.test(email)).toBe(accepted);
      }),
      { numRuns: NUMBER_OF_RUNS },
    );
  });
});
