/** An error whose message tells the user what to do. Any other error prints its stack. */
export class CliError extends Error {}

export class UsageError extends CliError {
  constructor(message: string, usage: string) {
    super(`${message}\n\n${usage}`);
  }
}
