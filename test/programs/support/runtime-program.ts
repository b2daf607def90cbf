import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** Of Miniflare: the program that it starts instead of workerd. */
const VARIABLE = "MINIFLARE_WORKERD_PATH";

/** Writes a program that becomes workerd, and leaves the ID of its process in the folder. */
export function writeRuntimeProgram(folder: string): string {
  mkdirSync(folder);
  const requireOfMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const { default: workerd } = requireOfMiniflare("workerd") as { default: string };
  const program = join(folder, "workerd");
  const script = `#!/bin/sh\n: > '${folder}/'"$$"\nexec '${workerd}' "$@"\n`;
  writeFileSync(program, script, { mode: 0o755 });
  return program;
}

/** Only while `start` runs: what tests start must end its own runtime. */
export async function withRuntimeProgram<T>(program: string, start: () => Promise<T>): Promise<T> {
  process.env[VARIABLE] = program;
  try {
    return await start();
  } finally {
    delete process.env[VARIABLE];
  }
}

/**
 * Kills those that go on. Vitest kills a process that has not ended half a second after it was asked to: on a busy
 * machine, it has not ended its runtimes by then.
 */
export function killRuntimes(folder: string): void {
  for (const id of readdirSync(folder).filter((name) => /^\d+$/.test(name))) {
    // Another process may have the ID by now.
    const { stdout } = spawnSync("ps", ["-o", "args=", "-p", id], { encoding: "utf8" });
    if (/\/workerd serve /.test(stdout)) process.kill(Number(id), "SIGKILL");
  }
}
