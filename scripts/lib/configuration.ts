import { join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { ROOT } from "./wrangler.ts";

/** The part of wrangler.toml that the scripts read. */
export interface Configuration {
  d1_databases: { binding: string; database_name?: string; database_id?: string }[];
  queues: {
    producers?: { queue?: string }[];
    consumers?: { queue: string; dead_letter_queue?: string }[];
  };
  vars: { ALLOW_INSECURE_WEBHOOKS?: string };
  secrets?: { required?: string[] };
}

export function readConfiguration(): Configuration {
  return unstable_readConfig({ config: join(ROOT, "wrangler.toml") });
}
