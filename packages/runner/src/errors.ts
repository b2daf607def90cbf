/** What whoever runs a script has to know or do. Anything else that is thrown shows its stack. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Runs a script to its exit code. */
export async function runScript(script: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await script();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    console.error(error.message);
    process.exitCode = error.exitCode;
  }
}
