import { describe, expect, it } from "vitest";

const sources: Record<string, string> = import.meta.glob("../src/**/*.ts", {
  query: "?raw",
  import: "default",
  eager: true,
});

interface Source {
  /** Below `src/`. */
  file: string;
  /** The feature it belongs to, if any. */
  feature: string | undefined;
  /** What it imports: a package's name, or a file below `src/`. */
  imports: string[];
  /** The same, without what it imports the types of alone, which are gone once it runs. */
  values: string[];
  lines: number;
}

const files: Source[] = Object.entries(sources)
  .map(([path, text]) => {
    const file = path.replace("../src/", "");
    const found = importsOf(file, text);
    const imports = found.map(({ name }) => name);
    const values = found.filter(({ isType }) => !isType).map(({ name }) => name);
    return { file, feature: featureOf(file), imports, values, lines: text.split("\n").length };
  })
  .filter(({ file }) => !file.endsWith(".d.ts"));

/** What a file imports or exports from elsewhere, for its side effects, or while it runs. */
function importsOf(file: string, text: string): { name: string; isType: boolean }[] {
  const clauses = text.matchAll(/^(?:import|export)\s(type\s)?[^"';]*?\sfrom\s"([^"]+)"/gm);
  const bare = text.matchAll(/^import\s()"([^"]+)"/gm);
  const dynamic = text.matchAll(/\bimport\(()\s*["'`]([^"'`]+)["'`]/g);
  return [...clauses, ...bare, ...dynamic].map(([, type, specifier]) => {
    const name = String(specifier);
    return { name: name.startsWith(".") ? join(file, name) : name, isType: Boolean(type) };
  });
}

function join(file: string, relative: string): string {
  return new URL(relative, `https://src/${file}`).pathname.slice(1);
}

function featureOf(file: string): string | undefined {
  return /^features\/([^/]+)\//.exec(file)?.[1];
}

/** What the files of a room must not import, by the name of the room. */
const FORBIDDEN: Record<string, { room: RegExp; imports: RegExp; allowsTypes?: true }> = {
  "lib/ imports nothing of ours": { room: /^lib\//, imports: /^(?!lib\/).*\.ts$/ },
  "db/ knows features by their tables alone": {
    room: /^db\//,
    imports: /^(http\/|gate|app|context|features\/(?!.*table\.ts$))/,
  },
  "http/ knows no feature": { room: /^http\//, imports: /^(features\/|gate|app)/ },
  "schemas know neither tables nor services": {
    room: /schemas\.ts$/,
    imports: /(\/table|\/store|\/service)\.ts$|^drizzle-orm/,
  },
  "routes know no SQL": {
    room: /routes\.ts$/,
    imports: /^drizzle-orm|^db\/|(\/table|\/store)\.ts$/,
  },
  "services know neither HTTP nor SQL": {
    room: /service\.ts$/,
    imports: /^(hono|@hono|drizzle-orm)|^http\/|routes\.ts$/,
  },
  "stores know no HTTP and no service": {
    room: /store\.ts$/,
    imports: /^(hono|@hono)|^http\/|(\/service|\/routes)\.ts$/,
  },
  "tables know columns, constants and other tables": {
    room: /table\.ts$/,
    imports:
      /^(?!drizzle-orm|db\/columns|lib\/|.*\/(table|connection|kinds|lifecycle|model|statuses|storage-methods)\.ts$)/,
  },
  "presenters and pure files know no I/O": {
    room: /\/(presenters|window|format|scope|headers|address|access|outcome|place|policies|schedule|signature|verdict)\.ts$/,
    imports:
      /^(hono|@hono|drizzle-orm|cloudflare:)|^(db|http)\/|(\/(store|service|routes|table)|\.do)\.ts$/,
    allowsTypes: true,
  },
  "Durable Objects are thin shells": { room: /\.do\.ts$/, imports: /^(http\/|db\/)|routes\.ts$/ },
};

describe("the house", () => {
  it.each(Object.entries(FORBIDDEN))("%s", (_, { room, imports, allowsTypes }) => {
    const inside = files.filter(({ file }) => room.test(file));
    expect(inside.length).toBeGreaterThan(0);
    const breaches = inside.flatMap(({ file, imports: all, values }) =>
      (allowsTypes ? values : all)
        .filter((name) => imports.test(name))
        .map((name) => `${file} imports ${name}`),
    );
    expect(breaches).toEqual([]);
  });

  it("hides no import, however it is written", () => {
    const text = [
      'import "./a.ts";',
      'import type { B } from "./b.ts";',
      'import {\n  type C,\n  c,\n} from "../c.ts";',
      'export { d } from "d";',
      'export * from "./e.ts";',
      'const f = await import("../../f.ts");',
      "const g = () => import(`./g.ts`);",
    ].join("\n");
    expect(importsOf("lib/x/y.ts", text).toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: "d", isType: false },
      { name: "f.ts", isType: false },
      { name: "lib/c.ts", isType: false },
      { name: "lib/x/a.ts", isType: false },
      { name: "lib/x/b.ts", isType: true },
      { name: "lib/x/e.ts", isType: false },
      { name: "lib/x/g.ts", isType: false },
    ]);
    // A specifier that is no literal could not be seen.
    const hidden = Object.entries(sources).filter(([, each]) =>
      /\bimport\((?!\s*["'`])/.test(each),
    );
    expect(hidden.map(([path]) => path)).toEqual([]);
  });

  it("lets features use each other through their index, and tables be referred to", () => {
    const breaches = files.flatMap(({ file, feature, imports }) =>
      imports
        .filter((name) => feature && featureOf(name) && featureOf(name) !== feature)
        .filter((name) => !/\/index\.ts$/.test(name))
        .filter((name) => !(file.endsWith("/table.ts") && /\/(table|kinds)\.ts$/.test(name)))
        .map((name) => `${file} imports ${name}`),
    );
    expect(breaches).toEqual([]);
  });

  it("has features that form no circle", () => {
    const uses = new Map<string, Set<string>>();
    for (const { file, feature, imports } of files) {
      if (!feature || file.endsWith("/table.ts")) continue;
      const used = imports.map(featureOf).filter((name) => name && name !== feature);
      const known = uses.get(feature) ?? new Set();
      for (const name of used) known.add(String(name));
      uses.set(feature, known);
    }
    const visit = (feature: string, above: readonly string[]): void => {
      if (above.includes(feature)) throw new Error([...above, feature].join(" → "));
      for (const used of uses.get(feature) ?? []) visit(used, [...above, feature]);
    };
    expect(uses.size).toBeGreaterThan(0);
    for (const feature of uses.keys()) visit(feature, []);
  });

  it("bundles of zod all that it uses", async () => {
    const bundled = Object.keys(await import("../src/http/zod-used.ts"));
    const used = Object.entries(sources).flatMap(([path, text]) =>
      [...text.matchAll(/\bz\s*\.\s*([a-z]\w*)\s*(?=[.(])/g)].map(
        ([, name]) => `${path}: z.${name}`,
      ),
    );
    expect(used.length).toBeGreaterThan(0);
    const lacking = used.filter((each) => !bundled.includes(each.split("z.").at(-1) ?? ""));
    // The types of zod's core, which are gone once it runs.
    expect(lacking.filter((each) => !each.endsWith(": z.core"))).toEqual([]);
  });

  it("has no file of more than 250 lines", () => {
    const long = files
      .filter(({ lines }) => lines > 251)
      .map(({ file, lines }) => `${file}: ${lines}`);
    expect(long).toEqual([]);
  });
});
