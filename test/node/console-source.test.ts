import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

describe("the source of the console", () => {
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
