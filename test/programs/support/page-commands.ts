import { join } from "node:path";
import { CLI_PROGRAM } from "../../../scripts/lib/program-bundle.ts";

/** What `npx @longshore/cli` starts in a checkout, without npm, which takes three times as long as the command itself. */
export const LONGSHORE = `'${process.execPath}' '${join(CLI_PROGRAM.folder, CLI_PROGRAM.fileName)}'`;

/** A block of commands in a page. */
export interface CommandBlock {
  section: string;
  /** Empty for the first terminal. */
  terminal: string;
  commands: string;
  /** What the page shows as output. */
  shown: string[];
}

/** The blocks of `sh`, whose second word names the terminal. A block of another language is what they print. */
export function readCommandBlocks(page: string): CommandBlock[] {
  const found: CommandBlock[] = [];
  let section = "";
  for (const [part, heading, language, terminal = "", content = ""] of page.matchAll(
    /^## (.*)$|^```(\w+) ?(\w*)\n([\s\S]*?)^```$/gm,
  )) {
    if (heading) section = heading;
    else if (language === "sh") found.push({ section, terminal, commands: content, shown: [] });
    else if (!found.at(-1)?.shown.push(content)) throw new Error(`No command prints:\n${part}`);
  }
  return found;
}
