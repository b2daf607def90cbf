import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { CommandError } from "../command-error.ts";

/**
 * Checks that workerd runs on this machine: it comes in a package for each platform, and needs glibc on Linux.
 * @throws CommandError that says how to install it. Miniflare would end this process with a stack.
 */
export function requireRuntimeProgram(): void {
  try {
    execFileSync(process.env["MINIFLARE_WORKERD_PATH"] ?? findProgram(), ["--version"], {
      stdio: "ignore",
    });
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new CommandError(
      `workerd, the runtime of Workers, does not run here: ${reason} Install the server for this platform, with optional ` +
        "dependencies: on Linux with glibc 2.35 or newer (not Alpine), or on macOS.",
    );
  }
}

/** Miniflare's own copy. */
function findProgram(): string {
  const requireOfMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  return requireOfMiniflare("workerd").default;
}
