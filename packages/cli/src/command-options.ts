import type { Command } from "commander";

/** `--json` and `--quiet`. */
export function addRecordOptions(command: Command): Command {
  return command
    .option("--json", "print JSON, for programs")
    .option("-q, --quiet", "print IDs only");
}

export function addConsentOption(command: Command): Command {
  return command.option("-y, --yes", "do not ask");
}

/** For an option that may be repeated. */
export function collect(value: string, values: string[] = []): string[] {
  return [...values, value];
}

/** Lines that do not name the program begin with it. */
export function addExamples(command: Command, ...lines: readonly string[]): Command {
  const examples = lines.map((line) =>
    line.includes("longshore ") ? `  $ ${line}` : `  $ longshore ${line}`,
  );
  return command.addHelpText("after", ["\nExamples:", ...examples].join("\n"));
}
