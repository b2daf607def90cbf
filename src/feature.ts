import type { SystemContext } from "./context.ts";
import type { OwnedTable } from "./db/ownership.ts";
import type { SealedColumn } from "./db/sealed-column.ts";
import type { LazyRoutes } from "./http/lazily.ts";

/** The manifest of a feature. */
export interface Feature {
  routes?: readonly LazyRoutes[];
  tables?: readonly OwnedTable[];
  /** In the order in which key rotation seals them again. */
  sealedColumns?: readonly SealedColumn[];
  /** Runs once a minute. */
  sweep?(ctx: SystemContext): Promise<void>;
}
