import { join } from "node:path";
import type { CheckedSettings } from "../../src/lib/settings.ts";
import { ROOT } from "./wrangler.ts";

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

/** Loads wrangler when it is called, because that takes longer than most commands. */
export async function readConfiguration(): Promise<Configuration> {
  const { unstable_readConfig } = await import("wrangler");
  return unstable_readConfig({ config: join(ROOT, "wrangler.toml") });
}
