import { env } from "cloudflare:workers";
import type { Statement } from "./instruments.ts";

/** What `explain query plan` says of each statement, in one round trip. */
export async function queryPlans(statements: readonly Statement[]): Promise<string[][]> {
  if (statements.length === 0) return [];
  const results = await env.DB.batch<{ detail: string }>(
    statements.map(({ sql, params }) =>
      env.DB.prepare(`explain query plan ${sql}`).bind(...params),
    ),
  );
  return results.map((each) => each.results.map(({ detail }) => detail));
}
