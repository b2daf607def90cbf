import { text } from "node:stream/consumers";
import { confirm, password, select, text as textPrompt } from "@clack/prompts";
import { CliError, ExitCode } from "./errors.ts";
import { toPlainText } from "./plain-text.ts";
import type { CliContext } from "./session.ts";

interface Choice {
  value: string;
  label: string;
}

/** Asks before something is lost. Without a terminal, --yes must say so. */
export async function requireConsent(
  context: CliContext,
  question: string,
  { yes }: { yes?: boolean },
): Promise<void> {
  if (yes) return;
  if (!isInteractive(context))
    throw new CliError(`${question} Add --yes to do so without a terminal.`);
  const message = toPlainText(question);
  const answer = await confirm({ message, initialValue: false, ...streams(context) });
  if (answer === false) throw new CliError("Nothing was changed.");
  if (answer !== true) throw new CliError("Nothing was changed.", ExitCode.interrupted);
}

/** Reads a secret from a terminal without showing it, or all of stdin. */
export async function readSecret(context: CliContext, message: string): Promise<string> {
  if (context.stdin.isTTY && !isInteractive(context)) {
    throw new CliError("The question needs a terminal for stderr, too. Do not redirect it.");
  }
  if (!isInteractive(context)) return (await text(context.stdin)).trim();
  return requireAnswer(await password({ message, ...streams(context) }));
}

/** @throws CliError without a terminal. */
export async function choose(
  context: CliContext,
  message: string,
  choices: Choice[],
  otherwise: string,
  initialValue?: string,
): Promise<string> {
  if (!isInteractive(context)) throw new CliError(otherwise);
  const options = choices.map(({ value, label }) => ({ value, label: toPlainText(label) }));
  const initial = initialValue !== undefined && { initialValue };
  return requireAnswer(await select({ message, options, ...initial, ...streams(context) }));
}

/** A line of text that is not blank, the initial one for an empty answer. In a terminal only. */
export async function ask(context: CliContext, message: string, initial = ""): Promise<string> {
  const answer = await textPrompt({
    message,
    placeholder: toPlainText(initial),
    defaultValue: initial,
    validate: (value) => ((value || initial).trim() ? undefined : "Type a text."),
    ...streams(context),
  });
  return requireAnswer(answer).trim();
}

export function isInteractive({ stdin, output }: CliContext): boolean {
  return Boolean(stdin.isTTY && output.stderr.isTTY);
}

/** Questions are not results. */
function streams({ stdin, output }: CliContext) {
  return { input: stdin, output: output.stderr };
}

function requireAnswer(answer: string | symbol): string {
  if (typeof answer === "string") return answer;
  throw new CliError("Nothing was changed.", ExitCode.interrupted);
}
