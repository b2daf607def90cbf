const UNWRITABLE = new Set(["EACCES", "EPERM", "EROFS", "ENOSPC"]);

/** An error whose message tells the user what to do. Any other error prints its stack. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Runs a command and sets the exit code of the process. */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command();
  } catch (error) {
    const known = error instanceof CommandError ? error : toCommandError(error);
    if (!known) throw error;
    console.error(known.message);
    process.exitCode = known.exitCode;
  }
}

/** A file or folder that cannot be written. */
function toCommandError(error: unknown): CommandError | undefined {
  if (!(error instanceof Error && "code" in error && "path" in error)) return undefined;
  if (!UNWRITABLE.has(String(error.code))) return undefined;
  return new CommandError(
    `Cannot write ${error.path} (${error.code}). Make it writable for this user, or use another folder.`,
  );
}
