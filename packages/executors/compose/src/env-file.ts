import {
  INHERITED_NAMES,
  REFUSED_NAMES,
  toPattern,
} from "../../../../src/lib/refused-variables.ts";
import { ProgramError } from "../../program/src/index.ts";

const NAME = /^[A-Za-z_]\w*$/;
/** What docker itself reads from such a file or from its environment. */
const REFUSED = toPattern(
  [
    ...["COMPOSE_*", "DOCKER_*", "BUILDX_*"],
    ...INHERITED_NAMES,
    ...REFUSED_NAMES.flatMap(({ names }) => names),
  ],
  true,
);

/** A file for `--env-file`. Each value is the same text in the compose file. */
export function renderEnvFile(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => {
      requireName(name);
      return `${name}="${value.replaceAll(/[\\"$]/g, String.raw`\$&`)}"\n`;
    })
    .join("");
}

function requireName(name: string): void {
  if (!NAME.test(name)) {
    throw new ProgramError(
      "A name in the setting variables must have only letters, digits and _, and no digit first.",
    );
  }
  if (REFUSED.test(name)) {
    throw new ProgramError(
      `The setting variables has ${name}, which changes how programs run. Use another name.`,
    );
  }
}
