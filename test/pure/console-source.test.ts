import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ASSETS_FOLDER } from "../../scripts/lib/assets.ts";
import { ROOT } from "../../scripts/lib/wrangler.ts";

const SOURCE = join(ROOT, "packages/console/src");
const BUILT = join(ASSETS_FOLDER, "console");

function findLines(folder: string, end: RegExp, pattern: RegExp, except: readonly string[] = []) {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => end.test(file) && !except.includes(file))
    .flatMap((file) => {
      const lines = readFileSync(join(folder, file), "utf8").split("\n");
      return lines.filter((line) => pattern.test(line)).map((line) => `${file}: ${line.trim()}`);
    });
}

/** What each file imports of the console, types included. */
function readImports(): Map<string, string[]> {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" });
  const modules = files.filter((file) => /\.tsx?$/.test(file));
  return new Map(modules.map((file) => [file, importsOf(file)]));
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(SOURCE, file), "utf8");
  const specifiers = text.matchAll(/(?:\bfrom\s|^import\s|\bimport\(\s*)"(\.[^"]+)"/gm);
  return [...specifiers].map(([, specifier = ""]) => join(dirname(file), specifier));
}

/** The files of a cycle of imports, from one of them to itself. */
function findCycle(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (file: string, above: readonly string[]): string[] => {
    if (above.includes(file)) return [...above.slice(above.indexOf(file)), file];
    if (done.has(file)) return [];
    const next = imports.get(file) ?? [];
    const cycle = next
      .map((each) => visit(each, [...above, file]))
      .find(({ length }) => length > 0);
    done.add(file);
    return cycle ?? [];
  };
  return [...imports.keys()].map((file) => visit(file, [])).find(({ length }) => length > 0) ?? [];
}

describe("the source of the console", () => {
  it("has no cycle of imports, types included", () => {
    const imports = readImports();
    const reached = new Set([...imports.values()].flat().filter((file) => imports.has(file)));
    // Those that nothing imports: the entry, and what the build puts in place of Node's modules.
    const roots = [...imports.keys()].filter((file) => !reached.has(file));
    expect(roots.toSorted()).toEqual(["main.tsx", "node-modules-stub.ts"]);
    expect(findCycle(imports)).toEqual([]);
    const tabs = imports.get("pages/tabs.ts") ?? [];
    const back = new Map([...imports, ["pages/tabs.ts", [...tabs, "pages/routes.tsx"]]]);
    expect(findCycle(back).at(0)).toBe(findCycle(back).at(-1));
    expect(findCycle(back)).toContain("pages/tabs.ts");
  });

  it("has colors in tokens.css only", () => {
    const color = /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(/i;
    expect(findLines(SOURCE, /\.(?:css|tsx)$/, color, ["tokens.css"])).toEqual([]);
    expect(findLines(SOURCE, /tokens\.css$/, color).length).toBeGreaterThan(20);
  });

  it("writes no HTML, runs no text, and stores nothing in the browser", () => {
    const refused =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|(?:local|session)Storage|indexedDB|document\.cookie/i;
    expect(findLines(SOURCE, /\.tsx?$/, refused)).toEqual([]);
  });

  it("loads nothing from elsewhere", () => {
    const elsewhere = /(?:src|href)="(?!\/console\/)/;
    expect(findLines(BUILT, /index\.html$/, /<script|<link/)).toHaveLength(3);
    expect(findLines(BUILT, /index\.html$/, elsewhere)).toEqual([]);
    expect(findLines(BUILT, /\.css$/, /url\(|@import/)).toEqual([]);
  });
});
