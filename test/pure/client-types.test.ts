import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  CLIENT_TYPES_FOLDER,
  CONSOLE_TYPES_FOLDER,
  renderClientTypes,
  renderConsoleTypes,
} from "../../scripts/lib/client-types.ts";

describe("the generated files", () => {
  it.each([
    ["client", CLIENT_TYPES_FOLDER, renderClientTypes],
    ["console", CONSOLE_TYPES_FOLDER, renderConsoleTypes],
  ])(
    "of the %s are those of the OpenAPI document: npm run client:types writes them",
    async (_, folder, render) => {
      const files = readdirSync(folder);
      const current = files.map((name) => [name, readFileSync(join(folder, name), "utf8")]);
      // Not `toEqual`, whose difference would be a file of 400 KB.
      const expected: Record<string, string> = await render();
      expect(files.toSorted()).toEqual(Object.keys(expected).toSorted());
      const stale = current.filter(([name, text]) => expected[String(name)] !== text);
      expect(stale.map(([name]) => name)).toEqual([]);
    },
  );
});
