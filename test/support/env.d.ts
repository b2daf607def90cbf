declare namespace Cloudflare {
  interface Env {
    WALKS: string;
    WALK_SEED: string;
    LEAKS: string;
    LEAK_SEED: string;
    RACES: string;
    FAULTY_EVENTS: string;
    RETRY_HISTORIES: string;
    LOG_HISTORIES: string;
    FAULT_STRIDE: string;
    HOSTILE_STRIDE: string;
    SESSION_STRIDE: string;
    RESTORED: D1Database;
    TEST_MIGRATIONS: import("@cloudflare/vitest-pool-workers").D1Migration[];
    /** The statements that create the same database: see test/schema.ts. */
    TEST_SCHEMA: string[];
  }
}
