import { dirname, join } from "node:path";
import { readJsonFile, writeTextFile } from "./config-file.ts";
import { CliError } from "./errors.ts";
import { profilesPath } from "./profiles.ts";

/** What `longshore init` stores for the runner of a folder. */
export interface StoredRunner {
  /** The token is sent only there. */
  url: string;
  poolId: string;
  /** The idempotency key of the token's creation: a repeat returns the same token. */
  request: string;
  /** Absent: the creation was not confirmed. */
  token?: { id: string; text: string } | undefined;
}

/** Only its owner may read the tokens. */
const FILE_MODE = 0o600;

/** Beside the logins. */
export function runnersPath(environment: NodeJS.Dict<string>): string {
  return join(dirname(profilesPath(environment)), "runners.json");
}

/** The stored runners by the paths of their folders. The runner of a folder is not used in the folders below it. */
export async function readStoredRunners(
  environment: NodeJS.Dict<string>,
): Promise<Map<string, StoredRunner>> {
  const path = runnersPath(environment);
  const file = (await readJsonFile(path)) ?? {};
  return new Map(
    Object.entries(file).map(([folder, value]) => [folder, requireRunner(value, path)]),
  );
}

export async function storeRunner(
  environment: NodeJS.Dict<string>,
  folder: string,
  runner: StoredRunner,
): Promise<void> {
  // Another command may have written since.
  const runners = (await readStoredRunners(environment)).set(folder, runner);
  const file = Object.fromEntries(
    [...runners].map(([each, { url, poolId, request, token }]) => {
      const stored = { url, pool_id: poolId, request, token_id: token?.id, token: token?.text };
      return [each, stored] as const;
    }),
  );
  const text = `${JSON.stringify(file, null, 2)}\n`;
  await writeTextFile(runnersPath(environment), text, FILE_MODE);
}

function requireRunner(value: unknown, path: string): StoredRunner {
  const { url, pool_id, request, token_id, token } = (value ?? {}) as Record<string, unknown>;
  if (typeof url === "string" && typeof pool_id === "string" && typeof request === "string") {
    const isStored = typeof token_id === "string" && typeof token === "string";
    return {
      url,
      poolId: pool_id,
      request,
      token: isStored ? { id: token_id, text: token } : undefined,
    };
  }
  throw new CliError(`${path} is not a file of longshore. Correct it, or delete it.`);
}
