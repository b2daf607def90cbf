/** The arguments of a command line, and those that the parser of options must not read. */
export interface SplitArguments {
  parsed: string[];
  /** All after `runner` and `serve`, and all after the `--` of `run`. Undefined: there are none. */
  raw: string[] | undefined;
}

/** Options of the command that `run` starts, of the runner and of the server, may have the names of our own. */
export function splitArguments(args: readonly string[]): SplitArguments {
  const at = findCommand(args);
  const separator = args.indexOf("--", at);
  if (args[at] === "runner" || args[at] === "serve") {
    return { parsed: args.slice(0, at + 1), raw: args.slice(at + 1) };
  }
  if (args[at] === "run" && separator >= 0) {
    return { parsed: args.slice(0, separator), raw: args.slice(separator + 1) };
  }
  return { parsed: [...args], raw: undefined };
}

/** `--profile` is the only option before a command that has a value. */
function findCommand(args: readonly string[]): number {
  return args.findIndex((each, at) => !each.startsWith("-") && args[at - 1] !== "--profile");
}
