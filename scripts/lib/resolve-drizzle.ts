import * as module from "node:module";

const FOLDER = "/node_modules/drizzle-orm/";

/**
 * For each file of the package, Node copies its 447 `exports` again, to know the format: half a second for those that a
 * command loads. Node has no hooks before 22.15.
 */
export function resolveDrizzleOnce(): void {
  module.registerHooks?.({
    resolve: (specifier, context, nextResolve) =>
      specifier.startsWith("./") || specifier.startsWith("../")
        ? (resolveInside(specifier, context.parentURL) ?? nextResolve(specifier, context))
        : nextResolve(specifier, context),
  });
}

function resolveInside(specifier: string, parent: string | undefined) {
  if (!parent?.includes(FOLDER) || !parent.endsWith(".js")) return undefined;
  return { url: new URL(specifier, parent).href, format: "module", shortCircuit: true };
}
