import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CLIENT_TYPES_FOLDER, renderClientTypes } from "../../scripts/lib/client-types.ts";

describe("the generated types of the client", () => {
  it("are those of the OpenAPI document: npm run client:types writes them", async () => {
    const files = readdirSync(CLIENT_TYPES_FOLDER);
    const current = files.map((name) => [
      name,
      readFileSync(join(CLIENT_TYPES_FOLDER, name), "utf8"),
    ]);
    // Not `toEqual`, whose difference would be a file of 400 KB.
    const expected = await renderClientTypes();
    expect(files.toSorted()).toEqual(Object.keys(expected).toSorted());
    const stale = current.filter(([name, text]) => expected[String(name)] !== text);
    expect(stale.map(([name]) => name)).toEqual([]);
  });
});
