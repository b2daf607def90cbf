import { CommandError } from "./command-error.ts";
import { readFileOptions, readServeOptions, USAGE } from "./options.ts";
import { readWorkerPackage, type WorkerPackage } from "./runtime/worker-package.ts";

const print = (text: string) => console.log(text);

/** Commands beside serving, which is what happens without one. */
const COMMANDS: Readonly<
  Record<string, (args: string[], worker: WorkerPackage) => Promise<number>>
> = {
  backup: async (args, worker) => {
    const { backUpData } = await import("./backup-command.ts");
    return backUpData(readFileOptions(args, process.env), worker, print);
  },
  restore: async (args, worker) => {
    const { restoreData } = await import("./restore-command.ts");
    return restoreData(readFileOptions(args, process.env), worker, print);
  },
};

/**
 * Runs the program, and returns what to exit with.
 * @param folder Of the Worker's bundle, its assets and its migrations.
 */
export async function runServerProgram(args: readonly string[], folder: string): Promise<number> {
  try {
    if (args.includes("--help")) return show(USAGE);
    const worker = readWorkerPackage(folder);
    if (args.includes("--version")) return show(worker.release);
    const [name = "", ...others] = args;
    const command = COMMANDS[name];
    if (command) return await command(others, worker);
    const options = readServeOptions(name === "serve" ? others : args, process.env);
    const { serve } = await import("./serve.ts");
    return await serve(options, { worker, environment: process.env, print });
  } catch (error) {
    const isExpected = error instanceof CommandError;
    // Node itself would print the line of the bundle first, which has thousands of characters.
    console.error(isExpected ? error.message : error);
    return isExpected ? error.exitCode : 1;
  }
}

function show(text: string): number {
  print(text);
  return 0;
}
