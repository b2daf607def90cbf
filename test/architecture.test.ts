import { describe, expect, it } from "vitest";
import {
  featureOf,
  files,
  importsOf,
  join,
  type Role,
  roles,
  type Source,
  sources,
} from "./support/source-files.ts";

/** Which roles a file of each role may import, itself apart. The flow has one direction. */
const MAY_IMPORT: Record<Role, readonly Role[]> = {
  composition: [
    "manifest",
    "context",
    "auth",
    "http",
    "rate-limits",
    "routes",
    "object",
    "service",
    "domain",
    "index",
    "model",
    "db",
    "lib",
  ],
  manifest: [
    "context",
    "http",
    "routes",
    "service",
    "domain",
    "store",
    "table",
    "model",
    "db",
    "lib",
  ],
  auth: ["context", "http", "rate-limits", "index", "db", "lib"],
  // What only the build imports.
  document: ["composition", "http", "rate-limits", "schemas", "domain", "index", "model", "lib"],
  routes: [
    "context",
    "auth",
    "http",
    "schemas",
    "presenters",
    "service",
    "domain",
    "index",
    "model",
    "lib",
  ],
  // The routes name their rate limit policy, and the OpenAPI document lists the policies.
  http: ["context", "rate-limits", "db", "lib"],
  "rate-limits": ["context", "lib"],
  index: ["routes", "schemas", "presenters", "service", "domain", "store", "table", "model"],
  presenters: ["schemas", "domain", "store", "index", "model", "lib"],
  schemas: ["http", "domain", "index", "model", "auth", "lib"],
  // What every write of a caller goes through, above the features that it composes.
  writes: ["context", "index", "db", "lib"],
  service: [
    "context",
    "auth",
    "writes",
    "presenters",
    "domain",
    "index",
    "store",
    "table",
    "model",
    "db",
    "lib",
  ],
  // A Durable Object of a feature.
  object: ["domain", "model", "lib"],
  domain: ["auth", "schemas", "index", "model", "lib"],
  store: ["context", "domain", "index", "table", "model", "db", "lib"],
  table: ["model", "db", "lib"],
  model: ["lib"],
  context: ["db", "lib"],
  db: ["lib"],
  lib: [],
};

/** The groups of features, and the writes of callers. Each may import those before it. */
const GROUPS: readonly string[] = [
  "tenancy",
  "housekeeping",
  "writes",
  "identity",
  "projects",
  "deployments",
  "notifications",
];

/** Packages that only some roles may use. */
const PACKAGES: readonly { name: RegExp; roles: readonly Role[] }[] = [
  {
    name: /^drizzle-orm/,
    roles: ["table", "store", "db"],
  },
  {
    name: /^(hono|@hono)\b/,
    roles: [
      "composition",
      "manifest",
      "document",
      "http",
      "routes",
      "schemas",
      "presenters",
      "domain",
      "lib",
      "model",
    ],
  },
  { name: /^cloudflare:/, roles: ["rate-limits", "object"] },
];

describe("imports", () => {
  it.each(Object.entries(MAY_IMPORT))("of %s flow in one direction", (role, allowed) => {
    const inside = files.filter((each) => each.role === role);
    expect(inside.length).toBeGreaterThan(0);
    const breaches = inside.flatMap(({ file, imports }) =>
      imports.flatMap((name) => {
        const other = roles.get(name);
        const isAllowed = !other || other === role || allowed.includes(other);
        return isAllowed ? [] : [`${file} (${role}) imports ${name} (${other})`];
      }),
    );
    expect(breaches).toEqual([]);
  });

  it.each(PACKAGES)("of $name are left to some roles", ({ name, roles: allowed }) => {
    const breaches = files
      .filter(({ role, imports }) => !allowed.includes(role) && imports.some((x) => name.test(x)))
      .map(({ file, role }) => `${file} (${role})`);
    expect(breaches).toEqual([]);
  });

  it("form no cycle, types included", () => {
    const imports = new Map(files.map((each) => [each.file, each.imports]));
    const done = new Set<string>();
    const visit = (file: string, above: readonly string[]): void => {
      if (above.includes(file)) throw new Error([...above, file].join(" → "));
      if (done.has(file)) return;
      for (const name of imports.get(file) ?? []) visit(name, [...above, file]);
      done.add(file);
    };
    for (const file of imports.keys()) visit(file, []);
    expect(done.size).toBeGreaterThan(files.length - 1);
  });

  const runtime = new Map(
    Object.entries(sources).map(([file, text]) => {
      return [file, importsOf(file, text.replaceAll(/^import type\s[^;]*;/gm, ""))] as const;
    }),
  );

  /** Every module that the imports of a file evaluate, types apart. */
  function reached(file: string, found = new Set<string>()): Set<string> {
    for (const name of runtime.get(file) ?? []) {
      if (found.has(name)) continue;
      found.add(name);
      reached(name, found);
    }
    return found;
  }

  it("of the Worker reach no schemas and no routes before the first request, which would delay its start", () => {
    const statically = new Map(
      Object.entries(sources).map(([file, text]) => [
        file,
        text.replaceAll(/\bimport\("[^"]+"\)/g, ""),
      ]),
    );
    const found = new Set<string>();
    const visit = (file: string): void => {
      if (found.has(file)) return;
      found.add(file);
      const text = statically.get(file) ?? "";
      for (const name of importsOf(file, text.replaceAll(/^import type\s[^;]*;/gm, "")))
        visit(name);
    };
    visit("index.ts");
    expect([...found]).toContain("features/projects/projects/service.ts");
    expect(
      [...found].filter((name) => /(schemas|routes|payloads)\.ts$|^@hono|^zod/.test(name)),
    ).toEqual([]);
    expect(reached("index.ts")).toContain("features/projects/projects/schemas.ts");
    expect([...reached("index.ts")].filter((name) => name.startsWith("document/"))).toEqual([]);
  });

  it("of Durable Objects do not reach the app, whose modules would delay the start of each", () => {
    const APP = /^drizzle-orm|^hono\b|zod|(^|[/-])(routes|schemas|service)\.ts$|^app\.ts$/;
    const reachApp = (file: string) => [...reached(file)].filter((name) => APP.test(name));
    const objects = files.filter(({ file }) => file.endsWith(".do.ts"));
    expect(objects.length).toBeGreaterThan(2);
    for (const { file } of objects) expect([file, ...reachApp(file)]).toEqual([file]);
    expect(reachApp("index.ts")).toContain("app.ts");
  });

  it("cross features through their index, or name a table, a model or a schema", () => {
    const VISIBLE = ["index", "table", "model", "schemas"];
    const breaches = files.flatMap(({ file, feature, imports }) =>
      imports
        .filter((name) => feature && featureOf(name) && featureOf(name) !== feature)
        .filter((name) => !VISIBLE.includes(String(roles.get(name))))
        .map((name) => `${file} imports ${name}`),
    );
    expect(breaches).toEqual([]);
  });

  it("form no cycle of features, whatever they import of each other", () => {
    const uses = new Map<string, Set<string>>();
    const nodeOf = (file: string) =>
      featureOf(file) ?? (roles.get(file) === "writes" ? "writes" : undefined);
    for (const { file, imports } of files) {
      const feature = nodeOf(file);
      if (!feature) continue;
      const others = imports
        .map(nodeOf)
        .filter((other) => other !== undefined && other !== feature);
      uses.set(feature, new Set([...(uses.get(feature) ?? []), ...others.map(String)]));
    }
    const visit = (feature: string, above: readonly string[]): void => {
      if (above.includes(feature)) throw new Error([...above, feature].join(" → "));
      for (const used of uses.get(feature) ?? []) visit(used, [...above, feature]);
    };
    const visitAll = () => {
      for (const feature of uses.keys()) visit(feature, []);
    };
    expect(uses.size).toBeGreaterThan(40);
    visitAll();
    // Like an import of a deployment's table by the outbox.
    const outbox = String(featureOf("features/housekeeping/outbox/fan-out.ts"));
    uses.get(outbox)?.add(String(featureOf("features/deployments/deployments/table.ts")));
    expect(visitAll).toThrow(`→ ${outbox}`);
  });

  it("go down the order of the groups, or stay in one", () => {
    const groupOf = (file: string) => /^(?:features\/)?([^/]+)\//.exec(file)?.[1];
    const breachesOf = ({ file, imports }: Pick<Source, "file" | "imports">) => {
      const place = GROUPS.indexOf(String(groupOf(file)));
      return imports
        .filter((name) => place < GROUPS.indexOf(String(groupOf(name))))
        .map((name) => `${file} imports ${name}`);
    };
    const grouped = files.filter(({ file }) => /^(features\/.*|writes)\//.test(file));
    const found = new Set(grouped.map(({ file }) => groupOf(file)));
    expect([...found].toSorted()).toEqual(GROUPS.toSorted());
    expect(grouped.flatMap(breachesOf)).toEqual([]);
    const upward = { file: "writes/write.ts", imports: ["features/identity/trusts/index.ts"] };
    expect(breachesOf(upward)).toHaveLength(1);
  });

  it("are all found, however they are written", () => {
    const text = [
      'import "./a.ts";',
      'import type { B } from "./b.ts";',
      'import {\n  type C,\n  c,\n} from "../c.ts";',
      'export { d } from "d";',
      'export * from "./e.ts";',
      'const f = await import("../../f.ts");',
      "const g = () => import(`./g.ts`);",
    ].join("\n");
    expect(importsOf("lib/x/y.ts", text).toSorted()).toEqual([
      "d",
      "f.ts",
      "lib/c.ts",
      "lib/x/a.ts",
      "lib/x/b.ts",
      "lib/x/e.ts",
      "lib/x/g.ts",
    ]);
    // A specifier that is no literal could not be found.
    const hidden = Object.entries(sources).filter(([, each]) =>
      /\bimport\((?!\s*["'`])/.test(each),
    );
    expect(hidden.map(([path]) => path)).toEqual([]);
  });
});

/** What a file with SQL may use of the modules that decide and run: not errors, roles and batches. */
const USED_BY_STORES: Readonly<Record<string, readonly string[]>> = {
  "actor.ts": ["credentialIdOf"],
  "db/batch.ts": ["after", "observe"],
  "db/expected-version.ts": ["hasExpectedVersion", "nextVersion", "resourceHasExpectedVersion"],
  "lib/errors.ts": [],
  "lib/header-errors.ts": [],
};

describe("files with SQL", () => {
  function breachesOf(file: string, text: string): string[] {
    const clauses = text.matchAll(/^(?:import|export)\s(?!type\b)([^"';]*?)\sfrom\s"([^"]+)"/gm);
    return [...clauses].flatMap(([, names = "", specifier = ""]) => {
      const allowed = USED_BY_STORES[join(file, specifier)];
      const values = names.replaceAll(/\btype \w+(?: as \w+)?/g, "").match(/\w+|\*/g) ?? [];
      return allowed ? values.filter((name) => !allowed.includes(name)) : [];
    });
  }

  const inStores = files.filter(({ role }) => role === "store");

  it("build statements, and decide nothing: they throw no errors, check no roles and run no batch", () => {
    expect(inStores.length).toBeGreaterThan(60);
    const breaches = inStores.flatMap(({ file }) =>
      breachesOf(file, String(sources[file])).map((name) => `${file} uses ${name}`),
    );
    expect(breaches).toEqual([]);
  });

  it.each([
    ['import { NotFound } from "../../lib/errors.ts";', ["NotFound"]],
    ['import { type Actor, requireRole } from "../../actor.ts";', ["requireRole"]],
    ['import {\n  after,\n  batch,\n  type Statement,\n} from "../../db/batch.ts";', ["batch"]],
    ['import * as actors from "../../actor.ts";', ["*", "as", "actors"]],
    ['import type { NotFound } from "../../lib/errors.ts";', []],
    ['import { after, type Statement } from "../../db/batch.ts";', []],
  ])("are refused if they do: %s", (text, names) => {
    expect(breachesOf("features/violating/store.ts", text)).toEqual(names);
  });
});

it("the check of a body, which precedes the authorization, searches no list for each item of a list", () => {
  const schemas = Object.entries(sources).filter(([path]) => /features\/.+schemas\.ts$/.test(path));
  expect(schemas.length).toBeGreaterThan(20);
  const searching = schemas.filter(([, text]) =>
    /\.(indexOf|findIndex|includes|find)\(/.test(text),
  );
  expect(searching.map(([path]) => path)).toEqual([]);
});

describe("a test file", () => {
  const MAXIMUM_LINES = 400;
  const texts: Record<string, string> = import.meta.glob("./**/*.ts", {
    query: "?raw",
    import: "default",
    eager: true,
  });

  it(`has at most ${MAXIMUM_LINES} lines`, () => {
    expect(Object.keys(texts).length).toBeGreaterThan(500);
    const longer = Object.entries(texts)
      .filter(([, text]) => text.trimEnd().split("\n").length > MAXIMUM_LINES)
      .map(([file]) => file);
    expect(longer).toEqual([]);
  });
});
