import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../scripts/lib/wrangler.ts";

const FOLDER = join(ROOT, "packages/console");

function findLines(folder: string, end: RegExp, pattern: RegExp, except: readonly string[] = []) {
  const files = readdirSync(join(FOLDER, folder), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => end.test(file) && !except.includes(file))
    .flatMap((file) => {
      const lines = readFileSync(join(FOLDER, folder, file), "utf8").split("\n");
      return lines.filter((line) => pattern.test(line)).map((line) => `${file}: ${line.trim()}`);
    });
}

describe("the source of the console", () => {
  it("has colors in tokens.css only", () => {
    const color = /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(/i;
    expect(findLines("src", /\.(?:css|tsx)$/, color, ["tokens.css"])).toEqual([]);
    expect(findLines("src", /tokens\.css$/, color).length).toBeGreaterThan(20);
  });

  it("writes no HTML, runs no text, and stores nothing in the browser", () => {
    const refused =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|(?:local|session)Storage|indexedDB|document\.cookie/i;
    expect(findLines("src", /\.tsx?$/, refused)).toEqual([]);
  });

  it("loads nothing from elsewhere", () => {
    const elsewhere = /(?:src|href)="(?!\/console\/)/;
    expect(findLines("dist/console", /index\.html$/, /<script|<link/)).toHaveLength(3);
    expect(findLines("dist/console", /index\.html$/, elsewhere)).toEqual([]);
    expect(findLines("dist/console", /\.css$/, /url\(|@import/)).toEqual([]);
  });
});
