import { describe, expect, it } from "vitest";
import page from "../docs/security.md?raw";

const files: Record<string, string> = import.meta.glob("./**/*.test.ts", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** Each proof is a file and the names of tests in it: `file`: "name", "name". */
const proofs = [...page.matchAll(/`test\/([^`]+)`: ("[^"]+"(?:, "[^"]+")*)/g)].flatMap(
  ([, file = "", names = ""]) =>
    [...names.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => ({ file, name })),
);

describe("docs/security.md", () => {
  it("has a proof in every row of its tables of promises", () => {
    const promises = page
      .split("\n")
      .filter((line) => line.split(" | ").length === 4 && !line.startsWith("| Promise "));
    for (const promise of promises) expect(promise).toMatch(/`test\/[^`]+`: "[^"]+/);
    expect(promises.length).toBeGreaterThan(20);
  });

  it("names tests that exist", () => {
    expect(proofs.length).toBeGreaterThan(40);
    const missing = proofs.filter(({ file, name }) => !files[`./${file}`]?.includes(`"${name}"`));
    expect(missing).toEqual([]);
  });
});
