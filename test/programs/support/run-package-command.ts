import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Checkout } from "./checkout.ts";

/** Runs a script of package.json in its own process, without npm, which takes half a second more. */
export async function runPackageCommand(
  checkout: Checkout,
  name: string,
  ...args: string[]
): Promise<{ code: number; output: string }> {
  const script = `${JSON.parse(checkout.read("package.json")).scripts[name]} "$@"`;
  try {
    const { stdout, stderr } = await promisify(execFile)("sh", ["-c", script, name, ...args], {
      cwd: checkout.folder,
    });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}
