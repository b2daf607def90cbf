import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PatchFile {
  path: string;
  remove(): void;
}

/**
 * Writes a patch as JSON to a file that only this user can read. An environment variable would be too
 * small: Linux limits one to 128 KiB, and a patch may have 256 KiB.
 */
export function writePatchFile(patch: readonly unknown[]): PatchFile {
  // mkdtemp creates the folder with mode 0700.
  const folder = mkdtempSync(join(tmpdir(), "longshore-patch-"));
  const path = join(folder, "patch.json");
  const remove = () => {
    process.off("exit", remove);
    rmSync(folder, { recursive: true, force: true });
  };
  // A third signal exits without the `finally` block of the caller.
  process.once("exit", remove);
  try {
    writeFileSync(path, JSON.stringify(patch), { mode: 0o600 });
  } catch (error) {
    remove();
    throw error;
  }
  return { path, remove };
}
