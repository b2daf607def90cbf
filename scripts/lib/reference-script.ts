import { createHash } from "node:crypto";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { ROOT } from "./wrangler.ts";

const ENTRY = join(ROOT, "packages/reference/script/main.ts");
const MAXIMUM_COMPRESSED_BYTES = 15_000;

/**
 * Bundles the script of the reference.
 * @throws Error if the script is too large.
 */
export async function buildReferenceScript(): Promise<{ text: string; hash: string }> {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    write: false,
  });
  const text = outputFiles[0]?.text.trim() ?? "";
  const bytes = gzipSync(text).length;
  if (bytes > MAXIMUM_COMPRESSED_BYTES) {
    throw new Error(`The script has ${bytes} bytes gzip, at most ${MAXIMUM_COMPRESSED_BYTES}.`);
  }
  return { text, hash: createHash("sha256").update(text).digest("base64url") };
}
