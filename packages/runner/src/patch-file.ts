import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PatchFile {
  path: string;
  remove(): void;
}

/**
 * Writes a patch as JSON to a file that only this user can read. It is a file because Linux limits an
 * environment variable to 128 KiB, and a patch may have 256 KiB. Throws what the file system throws.
 */
export function writePatchFile(patch: readonly unknown[]): PatchFile {
  // Its mode is 0700.
  const folder = mkdtempSync(join(tmpdir(), "longshore-patch-"));
  const path = join(folder, "patch.json");
  const remove = () => {
    process.off("exit", remove);
    rmSync(folder, { recursive: true, force: true });
  };
  // The third signal ends the process at once.
  process.once("exit", remove);
  try {
    writeFileSync(path, JSON.stringify(patch), { mode: 0o600 });
  } catch (error) {
    remove();
    throw error;
  }
  return { path, remove };
}
