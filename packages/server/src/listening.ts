import { CommandError } from "./command-error.ts";

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another process listens on it",
  EACCES: "this user may not listen on it",
  EADDRNOTAVAIL: "this machine does not have the address",
  ENOTFOUND: "the address does not resolve",
};

/** @throws CommandError if the port is the problem, or else the error itself. */
export function explainListenError(
  error: unknown,
  { host, port, option }: { host: string; port: number; option: string },
): never {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reason = REASONS[code];
  if (reason === undefined) throw error;
  throw new CommandError(
    `Port ${port} of ${host} is unavailable: ${reason}. Choose another with --${option}.`,
  );
}
