import { closeSync, readdirSync, readFileSync } from "node:fs";

const FIRST_AFTER_STDERR = 3;
/** The flag of a descriptor that a new program does not inherit. */
const O_CLOEXEC = 0o2000000;

/**
 * Closes the descriptors that the command would inherit from the runner's parent. Node sets
 * `O_CLOEXEC` on those that it opens, and on inherited ones only below 17. Other systems than Linux
 * have no list of flags.
 */
export function closeInheritedDescriptors(): void {
  if (process.platform !== "linux") return;
  for (const descriptor of readdirSync("/proc/self/fd").map(Number)) {
    if (descriptor >= FIRST_AFTER_STDERR && isInheritable(descriptor)) closeSync(descriptor);
  }
}

function isInheritable(descriptor: number): boolean {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8");
    const flags = /^flags:\s+([0-7]+)$/m.exec(info)?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    // The list contains the descriptor with which it was read.
    return false;
  }
}
