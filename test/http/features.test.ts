import { describe, expect, it } from "vitest";
import { FEATURES } from "../../src/features/index.ts";
import type { LazyRoutes } from "../../src/http/lazily.ts";
import { consoleLog } from "../../src/lib/log.ts";

const all = FEATURES.flatMap(({ routes = [] }) => routes);
const named = all.map((each) => [each.paths[0] ?? "", each] as const);

async function routesOf({ load }: LazyRoutes): Promise<{ method: string; path: string }[]> {
  const { openAPIRegistry } = await load({ clock: { now: () => 0 }, fetch, log: consoleLog });
  return openAPIRegistry.definitions.flatMap((each) =>
    each.type === "route" ? [{ ...each.route, path: toPattern(each.route.path) }] : [],
  );
}

const toPattern = (path: string) => path.replaceAll(/\{(.+?)\}/g, ":$1");
/** Without the names of parameters, which say nothing to a router. */
const shapeOf = (path: string) => path.replaceAll(/:\w+/g, ":");

describe("the routes of a feature", () => {
  it.each(named)("have the paths that it declares, and no others: %s", async (_, routes) => {
    const paths = (await routesOf(routes)).map(({ path }) => path);
    expect([...routes.paths].toSorted()).toEqual([...new Set(paths)].toSorted());
  });

  it("share no path with those of another", () => {
    const shapes = all.flatMap(({ paths }) => paths.map(shapeOf));
    expect(shapes.length).toBeGreaterThan(100);
    expect(shapes.filter((shape, at) => shapes.indexOf(shape) !== at)).toEqual([]);
  });

  it("come before those whose parameters would match their paths", async () => {
    const ordered = (await Promise.all(all.map(routesOf))).flat();
    const hidden = ordered.flatMap(({ method, path }, at) => {
      const isMatch = (earlier: { method: string; path: string }) =>
        earlier.method === method &&
        earlier.path !== path &&
        new RegExp(`^${earlier.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(path);
      return ordered.slice(0, at).some(isMatch) ? [`${method} ${path}`] : [];
    });
    expect(hidden).toEqual([]);
  });
});
