declare namespace Cloudflare {
  interface Env {
    WALKS: string;
    WALK_SEED: string;
    RACES: string;
    FAULTY_EVENTS: string;
    TEST_MIGRATIONS: import("@cloudflare/vitest-pool-workers").D1Migration[];
  }
}
