import { openForReading } from "../../db/client.ts";
import { ApiError } from "../../lib/errors.ts";

const TIMEOUT_MS = 3_000;

export async function checkHealth(
  d1: D1Database,
  secrets: Record<string, string | undefined>,
): Promise<void> {
  const missing = Object.keys(secrets).filter((name) => !secrets[name]);
  const database = await Promise.race([
    ping(d1).then(() => "ok"),
    new Promise<string>((resolve) => setTimeout(resolve, TIMEOUT_MS, "unreachable")),
  ]).catch(() => "unreachable");
  if (missing.length === 0 && database === "ok") return;
  throw new ApiError("internal", "The deployment is incomplete; see cause.", {
    cause: { missing_secrets: missing, database },
  });
}

async function ping(d1: D1Database): Promise<void> {
  await openForReading(d1).db.$client.prepare("select 1").first();
}
