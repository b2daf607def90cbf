import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./wrangler.ts";

/** The version of this checkout. */
export function readRelease(): string {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    version: string;
  };
  return version;
}
