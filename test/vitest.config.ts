import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { readEffort } from "./effort.ts";
import { LongestFirst } from "./longest-first.ts";
import { claimFolder } from "./memory-folder.ts";
import { readSchema } from "./schema.ts";
import { outboundService } from "./support/outbound-service.ts";

const root = new URL("..", import.meta.url).pathname;

// Of Vitest's processes and the programs that tests start, which would compile the same modules each time.
process.env["NODE_COMPILE_CACHE"] ??= `${root}node_modules/.cache/node-compile`;

// The Worker of every test has the static assets. Those that are up to date stay.
execFileSync(process.execPath, ["--experimental-strip-types", "scripts/build.ts"], {
  cwd: root,
  env: { ...process.env, NODE_NO_WARNINGS: "1" },
  stdio: "inherit",
});

const MEMORY = "/dev/shm";
/** Of the databases of one run. */
const NEEDED_BYTES = 2 * 1024 ** 3;

const temporaryFolder = tmpdir();
// Miniflare keeps its databases there. On a disk, a sixth of the time is spent on waiting for it.
const folder = claimFolder(MEMORY, NEEDED_BYTES);
if (folder) {
  process.env["TMPDIR"] = folder;
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
}

/** Only for tests that hang: no test depends on the speed of the machine. */
const TIMEOUTS = {
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 300_000 } },
};

/** The bundle that takes the place of the source: see scripts/test-bundle.ts. */
const bundle = process.env["LONGSHORE_BUNDLE"];

/** The tests that call the Worker only through its default export. */
const OF_BUNDLE = [
  "test/bundle/*.test.ts",
  ...[
    "authentication",
    "contract",
    "document-form",
    "documents",
    "error-examples",
    "examples",
    "hostile-input",
    "input",
    "lists",
    "openapi-document",
    "policies",
    "polled-reads",
    "scopes",
  ].map((name) => `test/contract/${name}.test.ts`),
];

/** Gives the tests the bundle for `src/index.ts`. */
const runBundle = {
  name: "run-bundle",
  enforce: "pre" as const,
  resolveId: (source: string, importer = "") =>
    source.endsWith("/src/index.ts") && importer.startsWith(`${root}test/`) ? bundle : undefined,
};

const migrations = await readD1Migrations(`${root}migrations`);

/** Every test except those that run in Node. */
const inWorkerd = {
  root,
  plugins: [
    ...(bundle === undefined ? [] : [runBundle]),
    cloudflareTest(async () => ({
      ...(bundle !== undefined && { main: bundle }),
      wrangler: { configPath: `${root}wrangler.toml` },
      miniflare: {
        // No test reaches the internet.
        outboundService,
        // For backups: the database that they are restored into. And one that is called as others call it.
        d1Databases: { RESTORED: "restored", BOUND: "bound" },
        unsafeBindings: [
          {
            name: "D1_OBJECTS",
            type: "d1-objects",
            plugin: { package: `${root}test/d1-objects.mjs`, name: "d1-objects" },
            options: {},
          },
        ],
        bindings: {
          BOOTSTRAP_TOKEN: "the bootstrap token of all of the tests",
          ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`,
          LEASE_SECRET: "the lease secret of all of the tests",
          // Overrides .dev.vars.
          ALLOW_INSECURE_WEBHOOKS: "false",
          SLACK_CLIENT_ID: "1234.5678",
          OIDC_ISSUER: "https://id.example.com",
          OIDC_CLIENT_ID: "longshore",
          OIDC_CLIENT_SECRET: "canary-secret-of-the-identity-provider",
          SLACK_CLIENT_SECRET: "canary-secret-of-the-slack-app",
          EFFORT: readEffort(),
          TEST_MIGRATIONS: migrations,
          TEST_SCHEMA: readSchema(migrations),
        },
      },
    })),
  ],
  test: {
    name: "worker",
    include: bundle === undefined ? ["test/**/*.test.ts"] : OF_BUNDLE,
    exclude: bundle === undefined ? ["test/programs/**", "test/pure/**", "test/bundle/**"] : [],
    setupFiles: [
      "test/support/setup.ts",
      ...(bundle === undefined ? [] : ["test/bundle/extend-timeouts.ts"]),
    ],
    // Starting the runtime for each file would take half of the time.
    isolate: false,
    // Each worker is a runtime that loads and compiles the source: more of them than cores only repeat it.
    maxWorkers: availableParallelism(),
    sequence: { groupOrder: 1 },
    ...TIMEOUTS,
  },
};

/** What needs Node, but starts no program of ours and no browser. */
const pure = {
  root,
  test: {
    name: "pure",
    include: ["test/pure/**/*.test.ts"],
    isolate: false,
    env: { TMPDIR: temporaryFolder },
    maxWorkers: 1,
    sequence: { groupOrder: 0 },
    ...TIMEOUTS,
  },
};

const programs = {
  root,
  test: {
    name: "programs",
    include: ["test/programs/**/*.test.ts"],
    isolate: false,
    globalSetup: ["test/programs/support/bundle.ts"],
    setupFiles: ["test/programs/support/connections.ts"],
    env: { TMPDIR: temporaryFolder },
    maxConcurrency: 20,
    // Four more than the cores, because most files wait for programs.
    maxWorkers: availableParallelism() + 4,
    sequence: { groupOrder: 0 },
    ...TIMEOUTS,
  },
};

export default defineConfig({
  root,
  test: {
    projects: bundle === undefined ? [inWorkerd, pure, programs] : [inWorkerd],
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/summary-reporter.ts"],
    silent: "passed-only",
  },
});
