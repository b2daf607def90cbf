import { lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "dotenv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeTextFile } from "../../../packages/cli/src/config-file.ts";
import { CliError } from "../../../packages/cli/src/errors.ts";
import { parseDotenv } from "../../../packages/cli/src/variables/parse-dotenv.ts";
import { renderDotenv } from "../../../packages/cli/src/variables/render-dotenv.ts";

const HOSTILE = [
  "'",
  '"',
  "`",
  "\\",
  "\\n",
  "\\r",
  "\n",
  "\r",
  "\r\n",
  "#",
  "$",
  " ",
  "=",
  "${",
  "}",
];
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...HOSTILE, "export B=1", "\u2028", "\0"),
      fc.string(),
      fc.string({ unit: "binary" }),
    ),
  )
  .map((parts) => parts.join(""))
  .filter((text) => text.isWellFormed());
const variableName = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);

describe("a .env file", () => {
  it("is read back exactly, or is refused by the name of the variable", () => {
    let written = 0;
    const names = fc.uniqueArray(fc.record({ name: variableName, value: hostileText }), {
      selector: ({ name }) => name,
    });
    fc.assert(
      fc.property(names, (variables) => {
        const text = renderAll(variables);
        if (text === undefined) return;
        written += variables.length;
        const expected = variables.map(({ name, value }) => [name, value]);
        expect(Object.entries(parse(Buffer.from(text)))).toEqual(expected);
        expect([...parseDotenv(text, ".env")]).toEqual(expected);
      }),
      { numRuns: 3_000 },
    );
    expect(written).toBeGreaterThan(1_000);
  });

  it("is never understood otherwise than dotenv understands it", () => {
    const parts = fc.constantFrom(...HOSTILE, "A", "B", "A=", "\nB=", "export ", ": ", "x", "\n");
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (all) => {
        const source = all.join("");
        const values = readAll(source);
        if (!values) return;
        accepted += values.size;
        expect(Object.fromEntries(values)).toEqual(parse(source));
      }),
      { numRuns: 20_000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });

  it.each([
    ["\uFEFFA=1\r\nB=2\r\n", { A: "1", B: "2" }],
    ["  export A = 'x # y' # z\n# B=1\n\nC:  d\n", { A: "x # y", C: "d" }],
    ["A=\nB=''\nC=\"a\\nb\"\n", { A: "", B: "", C: "a\nb" }],
    ['A=`it\'s "it"`\nB=$A$B\nC=a b c', { A: `it's "it"`, B: "$A$B", C: "a b c" }],
    ['A="say \\"hi\\" # now" # why\nB=2', { A: 'say \\"hi\\" # now', B: "2" }],
    ["A='it\\'s'\nB=`a\\`b`", { A: "it\\'s", B: "a\\`b" }],
    ["A='x\\\\'\nB=2", { A: "x\\\\", B: "2" }],
    ["", {}],
  ])("that is %j is understood", (source, values) => {
    expect(Object.fromEntries(parseDotenv(source, ".env"))).toEqual(values);
  });

  it("is replaced as a whole, and a link to it stays a link", async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "longshore-dotenv-"));
    context.onTestFinished(() => rmSync(folder, { recursive: true }));
    const link = join(folder, "link.env");
    const target = join(folder, "target.env");
    writeFileSync(target, "OLD=1\n");
    symlinkSync(target, link);
    await writeTextFile(link, "NEW=1\n", 0o600);
    expect(readFileSync(target, "utf8")).toBe("NEW=1\n");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });
});

function renderAll(variables: { name: string; value: string }[]): string | undefined {
  try {
    return renderDotenv(variables);
  } catch (error) {
    expect(error).toBeInstanceOf(CliError);
    expect(variables.some(({ name }) => String(error).includes(JSON.stringify(name)))).toBe(true);
    return undefined;
  }
}

function readAll(source: string): Map<string, string> | undefined {
  try {
    return parseDotenv(source, ".env");
  } catch (error) {
    expect(error).toBeInstanceOf(CliError);
    return undefined;
  }
}
