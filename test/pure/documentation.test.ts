import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ExitCode } from "../../packages/cli/src/errors.ts";
import { createProgram } from "../../packages/cli/src/program.ts";
import type { CliContext } from "../../packages/cli/src/session.ts";
import { ROOT } from "../../scripts/lib/wrangler.ts";
import {
  EVENT_TYPES,
  EVENTS,
  NOTIFICATION_KINDS,
} from "../../src/features/housekeeping/outbox/events.ts";
import { DELIVERY_FAILURE_REASONS } from "../../src/features/housekeeping/outbox/model.ts";
import { PAYLOADS } from "../../src/features/notifications/events/event-payloads.ts";
import { ERRORS } from "../../src/lib/errors.ts";
import { RETENTION } from "../../src/lib/retention.ts";
import { organizationLimit, POLICIES, type PolicyName } from "../../src/rate-limits/policies.ts";
import { NUMBERS, OTHER_NUMBERS } from "../programs/support/documented-numbers.ts";

/** `npm run limits` generates limits.md. The others state what was measured, or why. */
const WITHOUT_NUMBERS = [
  "CONTRIBUTING.md",
  "docs/capacity.md",
  "docs/limits.md",
  "docs/performance.md",
];

const PAGES = [
  "CONTRIBUTING.md",
  "README.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

const read = (page: string) => readFileSync(join(ROOT, page), "utf8");

/** In one line, without blocks of code and the names of tests. */
function proseOf(page: string): string {
  return read(page)
    .replaceAll(/^```[\s\S]*?^```$/gm, "")
    .replaceAll(/`test\/[^`]+`: "[^|]*/g, "")
    .replaceAll(/\s+/g, " ");
}

const QUANTITY =
  /(?<![\w.,:/`-])\d[\d,.]*[ -]?(?:ms|s|seconds?|min|minutes?|h|hours?|days?|bytes|KiB|MiB|GiB|KB|MB|characters)\b/g;

/** The rows of the table with this header: the cells, without their Markdown. */
function tableOf(page: string, header: string): string[][] {
  const [, rows = ""] = read(page).split(`${header}\n`);
  const lines = rows.split("\n").slice(1);
  const end = lines.findIndex((line) => !line.startsWith("|"));
  return lines.slice(0, end).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

/** As GitHub makes them of the headings. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );
}

describe("the numbers of the pages", () => {
  it.each(Object.entries(NUMBERS))("are those of the code: %s", (page, statements) => {
    const prose = proseOf(page);
    expect(statements.filter((statement) => !prose.includes(statement))).toEqual([]);
  });

  it.each(PAGES.filter((page) => !WITHOUT_NUMBERS.includes(page)))(
    "are all compared, or named as those of others: %s",
    (page) => {
      const known = [...(NUMBERS[page] ?? []), ...(OTHER_NUMBERS[page] ?? [])];
      const rest = known
        .toSorted((a, b) => b.length - a.length)
        .reduce((prose, statement) => prose.replaceAll(statement, "…"), proseOf(page));
      expect(rest.match(QUANTITY) ?? []).toEqual([]);
    },
  );

  it("name no page and no part of a sentence that does not exist", () => {
    const missing = Object.entries(OTHER_NUMBERS).flatMap(([page, parts]) =>
      parts.filter((part) => !proseOf(page).includes(part)),
    );
    expect(missing).toEqual([]);
  });
});

describe("the words of the pages", () => {
  it.each(PAGES)("are those of the glossary: %s", (page) => {
    expect(proseOf(page).match(/\b(audit|changelog|idempotency) records?\b/gi) ?? []).toEqual([]);
  });
});

describe("the lists of the pages", () => {
  it("have every error code with its status", () => {
    const rows = tableOf("docs/api.md", "| Code | Status | When |");
    const expected = Object.entries(ERRORS).map(([code, { status }]) => [code, String(status)]);
    const byCode = (cells: string[][]) => cells.map((row) => row.slice(0, 2)).toSorted();
    expect(byCode(rows)).toEqual(byCode(expected));
  });

  it("have every rate limit policy with its limits", () => {
    const header =
      "| Policy | For one key, in any 60 s | For all keys of the organization | Where |";
    const expected = (Object.keys(POLICIES) as PolicyName[]).map((name) => [
      name,
      POLICIES[name].limit.toLocaleString("en-US"),
      organizationLimit(name).toLocaleString("en-US"),
    ]);
    expect(tableOf("docs/api.md", header).map((row) => row.slice(0, 3))).toEqual(expected);
    expect(read("docs/api.md")).toContain(
      `ratelimit-policy: "default";q=${POLICIES.default.limit};w=60`,
    );
  });

  it("have every event with its summary and the flag that subscribes to it", () => {
    const rows = tableOf("docs/notifications.md", "| Flag | Event | When |");
    const expected = EVENT_TYPES.flatMap((type) => {
      const { kind } = EVENTS[type];
      return kind === undefined ? [] : [[kind, type, PAYLOADS[type].summary]];
    });
    expect(rows).toEqual(expected);
    const kinds = new Set(rows.map(([kind]) => kind));
    expect([...kinds].toSorted()).toEqual(NOTIFICATION_KINDS.toSorted());
    expect(new Set(NOTIFICATION_KINDS).size).toBe(NOTIFICATION_KINDS.length);
    const ofSlack = tableOf("docs/slack.md", "| Event | Content of the message |");
    const named = ofSlack.flatMap(([events = ""]) => events.split(", "));
    expect(named.toSorted()).toEqual(EVENT_TYPES.toSorted());
  });

  it("have every reason of a delivery that failed without being sent", () => {
    const page = read("docs/notifications.md");
    expect(DELIVERY_FAILURE_REASONS.filter((reason) => !page.includes(`\`${reason}\``))).toEqual(
      [],
    );
  });

  it("have every binding, setting and secret of wrangler.toml", () => {
    const rows = tableOf("docs/configuration.md", "| Name | Kind | Purpose |");
    const named = rows.flatMap(([names = ""]) => names.split(", "));
    const file = read("wrangler.toml");
    const bindings = [...file.matchAll(/^(?:binding|name) = "([A-Z_]+)"$/gm)];
    const [, vars = ""] = /^\[vars\]\n([\s\S]*?)^\[/m.exec(file) ?? [];
    const settings = [...vars.matchAll(/^([A-Z_]+) = /gm)];
    const [, required = ""] = /^required = \[(.*)\]$/m.exec(file) ?? [];
    const secrets = [...required.matchAll(/"([A-Z_]+)"/g)];
    const optional = ["SLACK_CLIENT_SECRET", "OIDC_CLIENT_SECRET", "METRICS_TOKEN"];
    const all = [...bindings, ...settings, ...secrets].map(([, name = ""]) => name);
    expect(named.toSorted()).toEqual([...all, ...optional].toSorted());
  });

  it("have the periods of retention that wrangler.toml sets", () => {
    const file = read("wrangler.toml");
    const set = Object.values(RETENTION).map(({ setting, days }) => `${setting} = "${days}"`);
    expect(set.filter((line) => !file.includes(line))).toEqual([]);
  });

  it("have every command of the command line, and every exit code", () => {
    const { stdout, stderr } = process;
    const program = createProgram({ output: { stdout, stderr } } as unknown as CliContext);
    const page = read("docs/cli.md");
    const commands = tableOf("docs/cli.md", "| Command | |").map(([names = ""]) => names);
    const named = new Set(commands.join(" ").match(/[a-z-]+/g));
    const visible = program.createHelp().visibleCommands(program);
    const names = visible.map((each) => each.name()).filter((name) => name !== "help");
    expect(names.filter((name) => !named.has(name))).toEqual([]);
    const [, table = ""] = page.split("## Exit codes");
    const codes = [...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    expect(codes).toEqual(Object.values(ExitCode));
  });

  it.each(PAGES)("name only scripts that package.json has: %s", (page) => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = [...read(page).matchAll(/\bnpm run ([a-z:-]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it("have each term of the glossary once, in order", () => {
    const terms = tableOf("docs/glossary.md", "| Term | Meaning | Where |").map(([term = ""]) =>
      term.toLowerCase(),
    );
    expect(terms).toEqual([...new Set(terms)].toSorted());
    expect(terms.filter((term) => /[(,;]/.test(term))).toEqual([]);
  });

  it.each(PAGES)("name only files and folders that exist: %s", (page) => {
    const paths = read(page).matchAll(
      /`((?:src|test|packages|scripts|bench|migrations|docs)\/[\w./-]*)`/g,
    );
    const missing = [...paths].map(([, path = ""]) => path);
    expect(missing.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each(PAGES)("link only to pages and headings that exist: %s", (page) => {
    const links = read(page).matchAll(/\]\(([^)#:\s]*)(?:#([^)\s]+))?\)/g);
    const missing = [...links].filter(([, path = "", heading]) => {
      const target = path === "" ? page : join(dirname(page), path);
      if (!existsSync(join(ROOT, target))) return true;
      return heading !== undefined && !anchorsOf(target).includes(heading);
    });
    expect(missing.map(([link]) => link)).toEqual([]);
  });

  it("have every page in the README", () => {
    const readme = read("README.md");
    expect(
      PAGES.filter((page) => page.startsWith("docs/") && !readme.includes(`(${page})`)),
    ).toEqual([]);
  });
});
