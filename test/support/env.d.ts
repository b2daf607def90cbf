declare namespace Cloudflare {
  interface Env {
    EFFORT: import("../effort.ts").Effort;
    RESTORED: D1Database;
    /** A binding that the tests do not replace: see test/support/direct-databases.ts. */
    BOUND: D1Database;
    /** Of the databases that they replace, by the names of the bindings. */
    D1_OBJECTS: DurableObjectNamespace<import("../database-object.mjs").Database>;
    TEST_MIGRATIONS: import("@cloudflare/vitest-pool-workers").D1Migration[];
    /** The statements that create the same database: see test/schema.ts. */
    TEST_SCHEMA: string[];
  }
}
