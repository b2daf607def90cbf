import { describe, expect, it } from "vitest";
import { findWritingFunctions, type Sources } from "./support/writing-functions.ts";

const sources: Record<string, string> = import.meta.glob("../src/**/*.ts", {
  query: "?raw",
  import: "default",
  eager: true,
});

interface Source {
  /** Below `src/`. */
  file: string;
  role: Role;
  /** The folder of the feature that it belongs to, if any: `housekeeping/outbox`. */
  feature: string | undefined;
  /** What it imports, types included: packages, and files below `src/`. */
  imports: string[];
}

/**
 * What a file is for, by its place, its name, or else what it uses: SQL makes it a store, HTTP a
 * route, the context or the database a service; the rest of a feature is pure.
 */
type Role =
  | "composition"
  | "manifest"
  | "context"
  | "auth"
  | "http"
  | "document"
  | "rate-limits"
  | "routes"
  | "schemas"
  | "presenters"
  | "object"
  | "writes"
  | "service"
  | "domain"
  | "index"
  | "store"
  | "table"
  | "model"
  | "db"
  | "lib";

const FOLDERS = ["auth", "document", "http", "rate-limits", "writes", "db", "lib"] as const;
const NAMES = ["routes", "schemas", "presenters", "service", "index", "table", "model"] as const;

const files: Source[] = Object.entries(sources)
  .map(([path, text]) => {
    const file = path.replace("../src/", "");
    const imports = importsOf(file, text);
    return { file, role: roleOf(file, imports), feature: featureOf(file), imports };
  })
  .filter(({ file }) => !file.endsWith(".d.ts"));

const roles = new Map(files.map(({ file, role }) => [file, role]));

function roleOf(file: string, imports: readonly string[]): Role {
  const folder = FOLDERS.find((name) => file.startsWith(`${name}/`));
  if (folder) return folder;
  if (["actor.ts", "context.ts", "turns.ts"].includes(file)) return "context";
  if (file === "features/index.ts") return "composition";
  if (/(^|\/)feature\.ts$/.test(file)) return "manifest";
  if (!file.startsWith("features/")) return "composition";
  if (file.endsWith(".do.ts")) return "object";
  if (file.endsWith("/webhooks.ts")) return "document";
  if (file.endsWith("/event-payloads.ts")) return "schemas";
  if (/(^|[/-])routes\.ts$/.test(file)) return "routes";
  const name = NAMES.find((each) => file.endsWith(`/${each}.ts`) || file.endsWith(`-${each}.ts`));
  if (name) return name;
  if (/\/(lifecycle|events)\.ts$/.test(file)) return "model";
  const uses = (pattern: RegExp) => imports.some((each) => pattern.test(each));
  if (uses(/^drizzle-orm/)) return "store";
  if (uses(/^(hono|@hono)\b|^http\//)) return "routes";
  return uses(/^(actor|context)\.ts$|^db\/|\/store\.ts$/) ? "service" : "domain";
}

/** Everything that a file imports, or exports from elsewhere. */
function importsOf(file: string, text: string): string[] {
  const clauses = text.matchAll(/^(?:import|export)\s[^"';]*?\sfrom\s"([^"]+)"/gm);
  const bare = text.matchAll(/^import\s"([^"]+)"/gm);
  const dynamic = text.matchAll(/\bimport\(\s*["'`]([^"'`]+)["'`]/g);
  return [...clauses, ...bare, ...dynamic].map(([, specifier]) => {
    const name = String(specifier);
    return name.startsWith(".") ? join(file, name) : name;
  });
}

function join(file: string, relative: string): string {
  return new URL(relative, `https://src/${file}`).pathname.slice(1);
}

/** The deepest folder with a manifest, an index or routes, or else that of the file. */
function featureOf(file: string): string | undefined {
  const [, path] = /^features\/(.+)\/[^/]+$/.exec(file) ?? [];
  const parts = path?.split("/") ?? [];
  const folders = parts.map((_, at) => parts.slice(0, at + 1).join("/")).reverse();
  const isFeature = (folder: string) =>
    ["feature", "index", "routes"].some(
      (name) => `../src/features/${folder}/${name}.ts` in sources,
    );
  return folders.find(isFeature) ?? folders[0];
}

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
    Object.entries(sources).map(([path, text]) => {
      const file = path.replace("../src/", "");
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
      Object.entries(sources).map(([path, text]) => {
        const withoutLazy = text.replaceAll(/\bimport\("[^"]+"\)/g, "");
        return [path.replace("../src/", ""), withoutLazy] as const;
      }),
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

/** What writes outside of `src/writes`: by the path of a file and the name of a function in it. */
const OTHER_WRITERS: readonly { what: RegExp; because: string }[] = [
  { what: /^writes\/write-batch\.ts: writeBatch$/, because: "Every write of a caller." },
  { what: /: sweep\w+$|\/sweep\.ts: /, because: "The schedule." },
  { what: /^features\/housekeeping\/purge\//, because: "The purge." },
  {
    what: /^features\/deployments\/deployments\/evaluation-service\.ts: evaluate(All|Next)$/,
    because: "What follows of rules, of the schedule or after a commit.",
  },
  {
    what: /^features\/deployments\/deployments\/service\.ts: endSome$/,
    because: "What the schedule ends.",
  },
  {
    what: /^features\/deployments\/deployments\/digest-service\.ts: /,
    because: "Digests, which no caller chooses, of the schedule or after a commit.",
  },
  {
    what: /^features\/deployments\/runner-api\//,
    because: "Calls of runners, with the fence of their attempt.",
  },
  {
    what: /^features\/deployments\/alarms\/service\.ts: reportAlarmAsRunner$/,
    because: "A call of a runner.",
  },
  { what: /^features\/notifications\/delivery\/sender\.ts: /, because: "The queue's consumer." },
  {
    what: /^features\/notifications\/(recoveries\/service\.ts: advance|integrations\/service\.ts: advanceAll)$/,
    because: "Deliveries of a recovery, in chunks.",
  },
  { what: /\/credentials\.ts: \w+Store$/, because: "When a credential was last used." },
  { what: /^features\/housekeeping\/idempotency\/once\.ts: /, because: "The entries themselves." },
  {
    what: /^features\/housekeeping\/audit\/service\.ts: (refuseEscalation|exportAuditLog)$/,
    because: "What only the audit log has: refusals and exports.",
  },
];

describe("writes of callers", () => {
  const below = (path: string) => path.replace("../src/", "");
  const source: Sources = Object.fromEntries(
    Object.entries(sources).map(([path, text]) => [below(path), text]),
  );
  const found = findWritingFunctions(source);

  it("go through src/writes", () => {
    const isOther = (each: string) => OTHER_WRITERS.some(({ what }) => what.test(each));
    expect(found.filter((each) => !isOther(each))).toEqual([]);
    const unused = OTHER_WRITERS.filter(({ what }) => !found.some((each) => what.test(each)));
    expect(unused).toEqual([]);
  });

  it.each([
    ["by a statement", "batch(ctx.db, { deleted: ctx.db.delete(stacks) })"],
    [
      "by a constant",
      "batch(ctx.db, statements)",
      "const statements = { done: store.remove(ctx) };",
    ],
    ["by a function of a store", "batch(ctx.db, { ...store.remove(ctx), read: store.list(ctx) })"],
    ["by an index", "batch(ctx.db, { audit: auditRead(ctx, id, act, options) })"],
    ["by a helper", "batch(ctx.db, plan(ctx))"],
    ["by an argument", "batch(ctx.db, given)"],
    ["by another name", "run(ctx.db, { removed: store.remove(ctx) })"],
    ["without a batch", "store.remove(ctx)"],
  ])("are found if they are made elsewhere: %s", (_, call, before = "") => {
    const violating = {
      "features/violating/store.ts": `
import { insertFrom } from "../../db/insert-from.ts";
import { stacks } from "../tenancy/stack-table.ts";
export function remove({ db }: Context) {
  return { removed: db
    .delete(stacks) };
}
export function list({ db }: Context) {
  return db.select().from(stacks);
}
`,
      "features/violating/service.ts": `
import { batch, batch as run } from "../../db/batch.ts";
import { auditRead } from "../housekeeping/audit/index.ts";
import * as store from "./store.ts";
export async function verb(ctx: ServiceContext, given: Statements) {
  ${before}
  await ${call};
}
export async function reads(ctx: ServiceContext) {
  const { rows } = await batch(ctx.db, { rows: store.list(ctx) });
  return rows;
}
function plan(ctx: ServiceContext) {
  return { first: store.list(ctx), then: store.remove(ctx) };
}
`,
    };
    const all = findWritingFunctions({ ...source, ...violating });
    expect(all.filter((each) => !found.includes(each))).toEqual([
      "features/violating/service.ts: verb",
    ]);
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
      breachesOf(file, String(sources[`../src/${file}`])).map((name) => `${file} uses ${name}`),
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
