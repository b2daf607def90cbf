declare namespace Cloudflare {
  interface Env {
    EFFORT: import("../effort.ts").Effort;
    RESTORED: D1Database;
    TEST_MIGRATIONS: import("@cloudflare/vitest-pool-workers").D1Migration[];
    /** The statements that create the same database: see test/schema.ts. */
    TEST_SCHEMA: string[];
  }
}
