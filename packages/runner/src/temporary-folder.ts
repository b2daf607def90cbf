import { mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Another process of the command may still write to it. */
const REMOVAL = { recursive: true, force: true, maxRetries: 3 } as const;

/** A folder that only this user can read, and that is removed at the latest when the runner exits. */
export class TemporaryFolder {
  readonly path: string;

  constructor(prefix: string) {
    // mkdtemp creates the folder with mode 0700.
    this.path = mkdtempSync(join(tmpdir(), prefix));
    // A third signal exits without the `finally` block of the caller.
    process.once("exit", this.removeNow);
  }

  async remove(): Promise<void> {
    try {
      await rm(this.path, REMOVAL);
    } catch (error) {
      const { code = "an unknown error" } = error as NodeJS.ErrnoException;
      console.error(`The folder ${this.path} cannot be removed: ${code}.`);
    }
    process.off("exit", this.removeNow);
  }

  readonly removeNow = (): void => {
    process.off("exit", this.removeNow);
    try {
      rmSync(this.path, REMOVAL);
    } catch {
      // The process is exiting, or the caller has the reason already.
    }
  };
}
