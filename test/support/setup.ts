import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, afterEach } from "vitest";
import { CANARY_PREFIX } from "./canary-secrets.ts";
import { emptyDatabase } from "./empty-database.ts";
import { extendTimeouts } from "./frozen-time.ts";

// Files share a runtime, which starts once, but no rows.
await emptyDatabase(env.DB);
await emptyDatabase(env.RESTORED);
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);

extendTimeouts();

/** Logged lines that contain a canary secret. */
const leaks: string[] = [];

for (const level of ["debug", "info", "log", "warn", "error"] as const) {
  const print = console[level].bind(console);
  console[level] = (...parts: unknown[]) => {
    const line = parts.map((part) => (part instanceof Error ? part.stack : String(part))).join(" ");
    if (line.includes(CANARY_PREFIX)) leaks.push(line);
    print(...parts);
  };
  // The next file of the runtime wraps the function itself.
  afterAll(() => {
    console[level] = print;
  });
}

afterEach(() => {
  const found = leaks.splice(0);
  if (found.length > 0) throw new Error(`The log leaked canary secrets: ${found.join("\n")}`);
});
