import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../scripts/lib/wrangler.ts";

const PROGRAMS = "test/programs";
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const projectsIn = (text: string) =>
  [...text.matchAll(/--project"?,? "?(\w+)/g)].map(([, name]) => name);

it("every test file is one that npm test or npm run test:programs runs", () => {
  const files = globSync("{src,scripts,bench,packages,examples,test}/**/*.{test,spec}.*", {
    cwd: ROOT,
    exclude: ["**/node_modules/**", "**/dist/**"],
  });
  expect(files.length).toBeGreaterThan(300);
  expect(files.filter((file) => !/^test\/.*\.test\.ts$/.test(file))).toEqual([]);
  const config = read("test/vitest.config.ts");
  const projects = [...config.matchAll(/^ {4}name: "(\w+)",$/gm)].map(([, name]) => name);
  expect(projects.toSorted()).toEqual(
    [
      ...projectsIn(manifest.scripts.test),
      ...projectsIn(read("scripts/test-programs.ts")),
    ].toSorted(),
  );
});

it("each folder of programs is a group, and CONTRIBUTING.md lists them all", () => {
  const entries = readdirSync(join(ROOT, PROGRAMS), { withFileTypes: true });
  expect(entries.filter((each) => !each.isDirectory())).toEqual([]);
  const groups = entries.map(({ name }) => name).filter((name) => name !== "support");
  const [, listed = ""] =
    /`npm run test:programs -- cli`[^|]*: (.*?)\. \|/.exec(read("CONTRIBUTING.md")) ?? [];
  expect(listed.match(/\w+/g)?.toSorted()).toEqual(groups.toSorted());
});

it(".ci/run runs both commands with full effort", () => {
  const gate = read(".ci/run");
  expect(gate.indexOf("export EFFORT=full")).toBeLessThan(
    gate.indexOf("for command in test test:programs"),
  );
  expect(gate).toContain('npm run "$command"');
});
