import { env } from "cloudflare:workers";
import { afterAll, afterEach } from "vitest";
import { reportCostsAfter } from "../../src/rate-limits/unreported-costs.ts";
import { countAddressesDirectly } from "./address-limits.ts";
import { CANARY_PREFIX } from "./canary-secrets.ts";
import { callDatabasesDirectly } from "./direct-databases.ts";
import { dropEarlierMessages } from "./earlier-messages.ts";
import { emptyDatabase } from "./empty-database.ts";
import { importEvaluatedModules } from "./evaluated-modules.ts";
import { extendTimeouts } from "./frozen-time.ts";

dropEarlierMessages();
callDatabasesDirectly();
countAddressesDirectly();

// Files share a runtime, which starts once, but no rows.
await emptyDatabase(env.DB);
await emptyDatabase(env.RESTORED);
await env.DB.batch(env.TEST_SCHEMA.map((sql) => env.DB.prepare(sql)));

extendTimeouts();
importEvaluatedModules();
reportCostsAfter(1);

/** Logged lines that contain a canary secret. */
const leaks: string[] = [];
/** Of the current test. Vitest discards the lines of a test that passes, but sending them is slow. */
const unprinted: (() => void)[] = [];

for (const level of ["debug", "info", "log", "warn", "error"] as const) {
  const print = console[level].bind(console);
  console[level] = (...parts: unknown[]) => {
    const line = parts.map((part) => (part instanceof Error ? part.stack : String(part))).join(" ");
    if (line.includes(CANARY_PREFIX)) leaks.push(line);
    unprinted.push(() => print(...parts));
  };
  // The next file of the runtime wraps the function itself.
  afterAll(() => {
    console[level] = print;
  });
}

afterEach(({ task }) => {
  const found = leaks.splice(0);
  const lines = unprinted.splice(0);
  if (task.result?.state === "fail" || found.length > 0) for (const print of lines) print();
  if (found.length > 0) throw new Error(`The log leaked canary secrets: ${found.join("\n")}`);
});

// The lines of hooks that failed before the first test, or after the last one.
afterAll(() => {
  for (const print of unprinted.splice(0)) print();
});
