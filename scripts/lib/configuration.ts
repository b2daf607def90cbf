import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseTOML } from "confbox/toml";
import { CommandError } from "../../packages/server/src/command-error.ts";
import type { CheckedSettings } from "../../src/lib/settings.ts";
import { ROOT } from "./wrangler.ts";

const FILE = join(ROOT, "wrangler.toml");

/** The part of wrangler.toml that the scripts read. */
export interface Configuration {
  d1_databases: { binding: string; database_name?: string; database_id?: string }[];
  queues: {
    producers?: { queue?: string }[];
    consumers?: { queue: string; dead_letter_queue?: string }[];
  };
  assets?: { run_worker_first?: string[] | boolean };
  vars: CheckedSettings;
  secrets?: { required?: string[] };
}

/** `CLOUDFLARE_ENV` selects an environment of the file. Only then, wrangler is loaded, which takes a second. */
export async function readConfiguration(
  environment = process.env["CLOUDFLARE_ENV"],
): Promise<Configuration> {
  if (!environment) return { d1_databases: [], queues: {}, ...readFile() };
  const { unstable_readConfig } = await import("wrangler");
  return unstable_readConfig({ config: FILE, env: environment });
}

function readFile() {
  try {
    return parseTOML<Partial<Configuration> & Pick<Configuration, "vars">>(
      readFileSync(FILE, "utf8"),
    );
  } catch (error) {
    throw new CommandError(
      `wrangler.toml cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
}
