import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../scripts/lib/wrangler.ts";
import {
  TRANSITIONS,
  type Transition,
} from "../../src/features/deployments/deployments/lifecycle.ts";

function renderTable(): string {
  const list = (states: readonly string[]) => states.map((state) => `\`${state}\``).join(", ");
  const lines = Object.entries(TRANSITIONS).flatMap(([record, transitions]) =>
    transitions.map(({ from, to, by, when, code }: Transition<string>) => {
      const [file, name] = code.split(".");
      return `| ${record} | ${list(from) || "–"} | ${list(to)} | ${by} | ${when} | \`${file}.ts\`: \`${name}\` |`;
    }),
  );
  const titles = ["| Record | From | To | By | When | Code |", "|---|---|---|---|---|---|"];
  return [...titles, ...lines].join("\n");
}

it("the table of transitions is the one in docs/state-machine.md (copy the expected text if it is not)", () => {
  const page = readFileSync(join(ROOT, "docs/state-machine.md"), "utf8");
  const [, table] = /<!-- TRANSITIONS -->\n\n(.*?)\n\n<!-- \/TRANSITIONS -->/s.exec(page) ?? [];
  expect(table).toBe(renderTable());
});
