import type { Completion } from "./api-types.ts";
import type { CommandEnvironment } from "./environment.ts";

/** The server accepts messages of 2,000 characters. */
const MAXIMUM_NAMES_LENGTH = 1_500;

/** For the log: which variables are refused, of which classes, and what to do. */
export function refusedVariables(
  names: readonly string[],
  environment: CommandEnvironment,
): string {
  const classes = names.map((name) => environment.classOf(name));
  const described = names.map((name, at) => (classes[at] ? `${name} (${classes[at]})` : name));
  const allowed = [...new Set(classes)].flatMap((name) => name ?? []);
  const options = allowed.map((name) => `--allow-variables ${name}`).join(" ");
  return (
    `Refused variables: ${cut(described)}. Such a name changes how programs load or run, or ` +
    "replaces what the runner sets. Rename or delete the variable, or start the runner with " +
    `--allow-variable NAME for each${options && `, or with ${options}`}.`
  );
}

/** The message becomes the reason of each stack. */
export function refusedCompletion(names: readonly string[]): Completion {
  const message = `Refused variables: ${cut(names)}. The log says what to do.`;
  return { outcome: "failed", failure_reason: "variable_refused", message };
}

function cut(names: readonly string[]): string {
  const list = names.join(", ");
  return list.length > MAXIMUM_NAMES_LENGTH ? `${list.slice(0, MAXIMUM_NAMES_LENGTH)}…` : list;
}
