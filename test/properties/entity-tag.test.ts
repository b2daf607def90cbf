import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bodyTag,
  entityTag,
  entityTagOfJson,
  listsTag,
  parseIfMatch,
} from "../../src/lib/entity-tag.ts";

const RUNS = 2_000;

/** Of an opaque tag (RFC 9110, 8.8.3, `etagc`). Workers decode headers as UTF-8. */
const isTagCharacter = (character: string): boolean => {
  const code = character.charCodeAt(0);
  return code === 0x21 || (code >= 0x23 && code <= 0x7e) || code >= 0x80;
};

/**
 * The grammar of RFC 9110 as it is written: `"*" / #entity-tag`, where the list may have empty
 * elements (5.6.1.2), but not only those. Undefined: malformed.
 */
function parse(header: string): "any" | string[] | undefined {
  let at = 0;
  const skipSpace = () => {
    while (header[at] === " " || header[at] === "\t") at += 1;
  };
  skipSpace();
  if (header[at] === "*") {
    at += 1;
    skipSpace();
    return at === header.length ? "any" : undefined;
  }
  const tags: string[] = [];
  for (;;) {
    skipSpace();
    if (at < header.length && header[at] !== ",") {
      if (header.startsWith("W/", at)) at += 2;
      if (header[at] !== '"') return undefined;
      const start = at + 1;
      at = start;
      while (at < header.length && isTagCharacter(String(header[at]))) at += 1;
      if (header[at] !== '"') return undefined;
      tags.push(header.slice(start, at));
      at += 1;
      skipSpace();
    }
    if (at === header.length) return tags.length > 0 ? tags : undefined;
    if (header[at] !== ",") return undefined;
    at += 1;
  }
}

const DIGEST = "0123456789abcdef01234567";
const part = fc.constantFrom(
  ...[
    '"',
    ",",
    " ",
    "\t",
    "*",
    "W/",
    "w/",
    "W",
    "\\",
    '\\"',
    "x",
    "1",
    "\u00a0",
    "\u00ff",
    "\u0100",
  ],
  ...['""', '"a"', 'W/"a"', '"1.b"', `"3.${DIGEST}"`, `W/"40.${DIGEST}"`, `"03.${DIGEST}"`, "\f"],
);
const header = fc.oneof(
  fc.array(part, { maxLength: 8 }).map((parts) => parts.join("")),
  fc.string({ maxLength: 20, unit: "binary" }),
);

describe("the tags of If-Match and If-None-Match", () => {
  it("are read as the grammar of RFC 9110 says", () => {
    const property = fc.property(header, (text) => {
      const expected = parse(text);
      const versions = parseIfMatch(text);
      if (expected === undefined) {
        expect(versions).toBeUndefined();
        expect(listsTag(text, '"a"')).toBeUndefined();
        return;
      }
      expect(listsTag(text, '"a"')).toBe(expected === "any" || expected.includes("a"));
      if (expected === "any") {
        expect(versions).toBe("any");
        return;
      }
      const own = expected.flatMap((tag) => {
        const [version = "", digest = "", ...rest] = tag.split(".");
        const isOwn = String(Number(version)) === version && digest === DIGEST && rest.length === 0;
        return isOwn ? [Number(version)] : [];
      });
      expect(versions).toEqual(own);
    });
    fc.assert(property, {
      numRuns: RUNS,
      examples: [
        ["*"],
        [" * "],
        ["\u00a0*"],
        ["*, *"],
        ['"a", *'],
        [""],
        [","],
        [',"a",,'],
        ['"a" "b"'],
        ["a"],
        ['"a'],
        ['w/"a"'],
        ['W/ "a"'],
        ['"a,b"'],
        [`"03.${DIGEST}"`],
      ],
    });
  });

  it("match the tag of a record, in its strong and its weak form, and in a list", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.jsonValue(),
        fc.array(fc.constantFrom("", '"x"', 'W/"1.2"', '"1.é"'), { maxLength: 3 }),
        async (version, record, others) => {
          const tag = await entityTag(version, record);
          expect(tag).toMatch(/^"\d+\.[0-9a-f]{24}"$/);
          for (const sent of [
            tag,
            `W/${tag}`,
            [...others, tag].join(","),
            [tag, ...others].join(" , "),
          ]) {
            expect(parseIfMatch(sent)).toEqual([version]);
            expect(listsTag(sent, tag)).toBe(true);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it("differ if the version or what is shown differs", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.nat(),
        fc.jsonValue(),
        fc.jsonValue(),
        async (a, b, one, two) => {
          const isSame = a === b && JSON.stringify(one) === JSON.stringify(two);
          expect((await entityTag(a, one)) === (await entityTag(b, two))).toBe(isSame);
        },
      ),
      { numRuns: 200 },
    );
  });

  // The test would end at its time limit if the time were quadratic in the length.
  it.each([" ", "\t ", ",", ", ", '"', '"a" ', 'W/"', "W/", "W/,", "*"])(
    "are refused also if they repeat %j many times",
    (unit) => {
      const text = `${unit.repeat(200_000)}x`;
      for (const header of [text, `"a"${text}`]) {
        expect(parseIfMatch(header)).toBeUndefined();
        expect(listsTag(header, '"a"')).toBeUndefined();
      }
    },
  );

  it("are the same for a record as for its JSON, and for a body as for its bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.jsonValue(), async (version, record) => {
        const json = JSON.stringify(record);
        const tag = await entityTagOfJson(version, json);
        expect(tag).toBe(await entityTag(version, record));
        const weak = await bodyTag(json);
        expect(weak).toBe(await bodyTag(Uint8Array.from(new TextEncoder().encode(json)).buffer));
        expect(weak.slice(3)).toBe(tag.slice(tag.indexOf(".") + 1));
      }),
      { numRuns: 200 },
    );
  });

  it("may be many", () => {
    const header = '"7.0123456789abcdef01234567",'.repeat(40_000);
    expect(parseIfMatch(header)).toHaveLength(40_000);
  });
});
