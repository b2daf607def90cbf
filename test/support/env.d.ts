declare namespace Cloudflare {
  interface Env {
    EFFORT: import("../effort.ts").Effort;
    RESTORED: D1Database;
    /** The binding of `DB`, which the tests replace: see test/support/direct-databases.ts. */
    BOUND: D1Database;
    /** Of all databases, by their names: see test/d1-objects.mjs. */
    D1_OBJECTS: DurableObjectNamespace;
    D1_NAMES: Record<"DB" | "RESTORED", string>;
    TEST_MIGRATIONS: import("@cloudflare/vitest-pool-workers").D1Migration[];
    /** The statements that create the same database: see test/schema.ts. */
    TEST_SCHEMA: string[];
  }
}
