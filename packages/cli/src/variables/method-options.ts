import { type Command, Option } from "commander";
import type { StorageMethod } from "./scope.ts";

export interface MethodOptions {
  secret?: boolean;
  secureString?: boolean;
  string?: boolean;
}

/** Runners keep the value encrypted at the provider, unless asked otherwise. */
export const DEFAULT_METHOD: StorageMethod = "secure_string";

export function addMethodOptions(command: Command, which: string): Command {
  const option = (flag: string, how: string, others: string[]) =>
    new Option(flag, `runners store ${which} as ${how}`).conflicts(others);
  return command
    .addOption(option("--secret", "a secret of the provider", ["secureString", "string"]))
    .addOption(option("--secure-string", "an encrypted parameter", ["secret", "string"]))
    .addOption(option("--string", "plain text", ["secret", "secureString"]));
}

/** Undefined without an option. */
export function readMethod(options: MethodOptions): StorageMethod | undefined {
  if (options.secret) return "secret";
  if (options.secureString) return "secure_string";
  return options.string ? "string" : undefined;
}
