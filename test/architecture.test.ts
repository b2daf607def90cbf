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
  lines: number;
}

const files: Source[] = Object.entries(sources)
  .map(([path, text]) => {
    const file = path.replace("../src/", "");
    const specifiers = [...text.matchAll(/(?:from|import) "([^"]+)"/g)].map(([, name]) =>
      String(name),
    );
    const imports = specifiers.map((name) => (name.startsWith(".") ? join(file, name) : name));
    return { file, feature: featureOf(file), imports, lines: text.split("\n").length };
  })
  .filter(({ file }) => !file.endsWith(".d.ts"));

function join(file: string, relative: string): string {
  return new URL(relative, `https://src/${file}`).pathname.slice(1);
}

function featureOf(file: string): string | undefined {
  return /^features\/([^/]+)\//.exec(file)?.[1];
}

/** What the files of a room must not import, by the name of the room. */
const FORBIDDEN: Record<string, { room: RegExp; imports: RegExp }> = {
  "lib/ imports nothing of ours": { room: /^lib\//, imports: /^(?!lib\/)[\w-]+\// },
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
      /^(?!drizzle-orm|db\/columns|lib\/|.*\/table\.ts$|features\/[^/]+\/(connection|kinds|lifecycle|statuses|storage-methods)\.ts$)/,
  },
  "Durable Objects are thin shells": { room: /\.do\.ts$/, imports: /^(http\/|db\/)|routes\.ts$/ },
};

describe("the house", () => {
  it.each(Object.entries(FORBIDDEN))("%s", (_, { room, imports }) => {
    const inside = files.filter(({ file }) => room.test(file));
    expect(inside.length).toBeGreaterThan(0);
    const breaches = inside.flatMap(({ file, imports: imported }) =>
      imported.filter((name) => imports.test(name)).map((name) => `${file} imports ${name}`),
    );
    expect(breaches).toEqual([]);
  });

  it("lets features use each other through their index, and tables be referred to", () => {
    const breaches = files.flatMap(({ file, feature, imports }) =>
      imports
        .filter((name) => feature && featureOf(name) && featureOf(name) !== feature)
        .filter((name) => !/\/index\.ts$/.test(name))
        .filter((name) => !(file.endsWith("/table.ts") && name.endsWith("/table.ts")))
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

  it("has no file of more than 200 lines", () => {
    const long = files
      .filter(({ lines }) => lines > 201)
      .map(({ file, lines }) => `${file}: ${lines}`);
    expect(long).toEqual([]);
  });
});
