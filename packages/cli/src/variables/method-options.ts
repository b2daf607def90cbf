import { type Command, Option } from "commander";
import type { StorageMethod } from "./scope.ts";

export interface MethodOptions {
  sensitive?: boolean;
  secret?: boolean;
  secureString?: boolean;
  string?: boolean;
}

/** Sensitive, unless asked otherwise. */
export const DEFAULT_METHOD: StorageMethod = "secure_string";

export function addMethodOptions(command: Command, which: string): Command {
  const names = ["sensitive", "secret", "secureString", "string"];
  const option = (flag: string, description: string) => {
    const created = new Option(flag, description);
    return created.conflicts(names.filter((name) => name !== created.attributeName()));
  };
  const stored = `runners of your own store ${which} as`;
  return command
    .addOption(option("--sensitive", `runners hide ${which} in logs; as --secret`))
    .addOption(option("--no-sensitive", `runners show ${which} in logs; as --string`))
    .addOption(option("--secret", `${stored} a secret of the provider`))
    .addOption(option("--secure-string", `${stored} an encrypted parameter`))
    .addOption(option("--string", `${stored} plain text`));
}

/** Undefined without an option. */
export function readMethod(options: MethodOptions): StorageMethod | undefined {
  if (options.secret || options.sensitive) return "secret";
  if (options.secureString) return "secure_string";
  return options.string || options.sensitive === false ? "string" : undefined;
}
