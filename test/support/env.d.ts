declare namespace Cloudflare {
  interface Env {
    WALKS: string;
    WALK_SEED: string;
    TEST_MIGRATIONS: import("@cloudflare/vitest-pool-workers").D1Migration[];
  }
}
