import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { internet } from "./support/internet.ts";

const root = new URL("..", import.meta.url).pathname;

export default defineConfig({
  root,
  plugins: [
    cloudflareTest(async () => ({
      wrangler: { configPath: `${root}wrangler.toml` },
      miniflare: {
        // Nothing leaves this machine.
        outboundService: internet,
        bindings: {
          BOOTSTRAP_TOKEN: "the bootstrap token of the tests",
          ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
          LEASE_SECRET: "the lease secret of the tests",
          SLACK_CLIENT_ID: "1234.5678",
          SLACK_CLIENT_SECRET: "planted-secret-of-the-slack-app",
          WALKS: process.env["WALKS"] ?? "200",
          WALK_SEED: process.env["WALK_SEED"] ?? "1",
          TEST_MIGRATIONS: await readD1Migrations(`${root}migrations`),
        },
      },
    })),
  ],
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/setup.ts"],
    reporters: ["default", "./test/summary-reporter.ts"],
    silent: "passed-only",
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
