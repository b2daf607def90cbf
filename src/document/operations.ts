import { FEATURES } from "../features/index.ts";
import { systemClock } from "../lib/clock.ts";
import type { Operation } from "./route.ts";

/** Every operation and every page, in the order of the features. Loads all of them. */
export async function loadOperations(): Promise<Operation[]> {
  const deps = { clock: systemClock, fetch, log: () => undefined };
  const routers = FEATURES.flatMap(({ routes = [] }) => routes.map(({ load }) => load(deps)));
  return (await Promise.all(routers)).flatMap(({ openAPIRegistry }) =>
    openAPIRegistry.definitions.flatMap((each) =>
      // What `apiRoute` has registered.
      each.type === "route" ? [each.route as unknown as Operation] : [],
    ),
  );
}
