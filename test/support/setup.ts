import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach } from "vitest";
import { PLANTED } from "./canary-secrets.ts";

await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);

/** Every line that the Worker or a test has logged with a planted secret in it. */
const leaks: string[] = [];

for (const level of ["debug", "info", "log", "warn", "error"] as const) {
  const print = console[level].bind(console);
  console[level] = (...parts: unknown[]) => {
    const line = parts.map((part) => (part instanceof Error ? part.stack : String(part))).join(" ");
    if (line.includes(PLANTED)) leaks.push(line);
    print(...parts);
  };
}

afterEach(() => {
  const found = leaks.splice(0);
  if (found.length > 0) throw new Error(`The log leaked planted secrets: ${found.join("\n")}`);
});
