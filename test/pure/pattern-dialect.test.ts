import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDocument } from "../../scripts/lib/document.ts";
import { ROOT } from "../../scripts/lib/wrangler.ts";
import { EMAIL, TEXT } from "../../src/lib/text-patterns.ts";
import { findRefusedConstructs, REFUSED_CONSTRUCTS } from "../programs/support/pattern-dialect.ts";

const SCHEMAS = globSync("{docs,packages/*}/*.schema.json", { cwd: ROOT });

/** Each `pattern`, and each name in `patternProperties`, which is one. */
function patternsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    if (name === "pattern" && typeof each === "string") return [each];
    const names = name === "patternProperties" ? Object.keys(each) : [];
    return [...names, ...patternsIn(each)];
  });
}

const documents: [string, string[]][] = [
  ["the OpenAPI document", patternsIn(await readDocument())],
  ...SCHEMAS.map((file): [string, string[]] => [
    file,
    patternsIn(JSON.parse(readFileSync(join(ROOT, file), "utf8"))),
  ]),
];

describe("a pattern that other languages compile", () => {
  it("is in the OpenAPI document, and in the schema of the input in docs and in the runner", () => {
    expect(SCHEMAS.toSorted()).toEqual([
      "docs/input.schema.json",
      "packages/runner/input.schema.json",
    ]);
    for (const [, patterns] of documents) expect(patterns).toContain(TEXT.source);
    const [[, ofDocument] = []] = documents;
    expect(ofDocument).toContain(EMAIL.source);
    expect(ofDocument?.length).toBeGreaterThan(300);
  });

  it.each(documents)("of %s compiles in JavaScript without flags", (_, patterns) => {
    for (const each of patterns) expect(() => new RegExp(each)).not.toThrow();
  });

  it.each(documents)("of %s has nothing that only some of them accept", (_, patterns) => {
    const refused = [...new Set(patterns)].flatMap((each) =>
      findRefusedConstructs(each).map((construct) => `${each}: ${construct}`),
    );
    expect(refused).toEqual([]);
  });
});

describe("what only some languages accept", () => {
  it.each(Object.entries(REFUSED_CONSTRUCTS))("such as %s is found in %s", (name, source) => {
    expect(findRefusedConstructs(source)).toContain(name);
  });

  it.each([
    String.raw`^[^\S\x00-\x1F]*[\w./+-]+$`,
    String.raw`^(?:[a-z]{2,3}|\[\d+\]){1,1000}?$`,
    String.raw`^[&|~-]\.\{$`,
  ])("is not found in %s", (source) => {
    expect(findRefusedConstructs(source)).toEqual([]);
  });
});
