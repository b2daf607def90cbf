import type { Sources } from "./writing-functions.ts";

/** The text of each file, by its path below `src/`. */
export const sources: Sources = Object.fromEntries(
  Object.entries<string>(
    import.meta.glob("../../src/**/*.ts", { query: "?raw", import: "default", eager: true }),
  ).map(([path, text]) => [path.replace("../../src/", ""), text]),
);

export interface Source {
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
export type Role =
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

export const files: Source[] = Object.entries(sources)
  .map(([file, text]) => {
    const imports = importsOf(file, text);
    return { file, role: roleOf(file, imports), feature: featureOf(file), imports };
  })
  .filter(({ file }) => !file.endsWith(".d.ts"));

export const roles = new Map(files.map(({ file, role }) => [file, role]));

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
export function importsOf(file: string, text: string): string[] {
  const clauses = text.matchAll(/^(?:import|export)\s[^"';]*?\sfrom\s"([^"]+)"/gm);
  const bare = text.matchAll(/^import\s"([^"]+)"/gm);
  const dynamic = text.matchAll(/\bimport\(\s*["'`]([^"'`]+)["'`]/g);
  return [...clauses, ...bare, ...dynamic].map(([, specifier]) => {
    const name = String(specifier);
    return name.startsWith(".") ? join(file, name) : name;
  });
}

export function join(file: string, relative: string): string {
  return new URL(relative, `https://src/${file}`).pathname.slice(1);
}

/** The deepest folder with a manifest, an index or routes, or else that of the file. */
export function featureOf(file: string): string | undefined {
  const [, path] = /^features\/(.+)\/[^/]+$/.exec(file) ?? [];
  const parts = path?.split("/") ?? [];
  const folders = parts.map((_, at) => parts.slice(0, at + 1).join("/")).reverse();
  const isFeature = (folder: string) =>
    ["feature", "index", "routes"].some((name) => `features/${folder}/${name}.ts` in sources);
  return folders.find(isFeature) ?? folders[0];
}
