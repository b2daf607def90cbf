import {
  INHERITED_NAMES,
  REFUSED_NAMES,
  toPattern,
} from "../../../../src/lib/refused-variables.ts";
import { ProgramError } from "../../program/src/index.ts";

const NAME = /^[A-Za-z_]\w*$/;
/** What docker itself reads from such a file or from its environment. Containers need the endpoints of others. */
const REFUSED = toPattern(
  [
    ...["DOCKER_*", ...INHERITED_NAMES],
    ...REFUSED_NAMES.flatMap(({ class: name, names }) => (name === "endpoints" ? [] : names)),
  ],
  true,
);

/** A file for `--env-file`. Each value is the same text in the compose file. */
export function renderEnvFile(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => {
      requireName(name, "The setting variables");
      return `${name}="${value.replaceAll(/[\\"$]/g, String.raw`\$&`)}"\n`;
    })
    .join("");
}

/** Throws a `ProgramError` if docker itself would read a variable of this name. */
export function requireName(name: string, owner: string): void {
  if (!NAME.test(name)) {
    throw new ProgramError(
      "A name in the setting variables must have only letters, digits and _, and no digit first.",
    );
  }
  if (REFUSED.test(name)) {
    throw new ProgramError(
      `${owner} has ${name}, which changes how programs run. Use another name.`,
    );
  }
}
