import type { Command } from "commander";
import { addConsentOption, addExamples, addRecordOptions } from "../command-options.ts";
import { CliError } from "../errors.ts";
import { toLocalTime } from "../local-time.ts";
import type { RecordOptions } from "../output.ts";
import { toPlainText } from "../plain-text.ts";
import { isInteractive, readSecret, requireConsent } from "../prompts.ts";
import { readInput } from "../read-input.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import type { Column } from "../table.ts";
import {
  addMethodOptions,
  DEFAULT_METHOD,
  type MethodOptions,
  readMethod,
} from "../variables/method-options.ts";
import {
  addScopeOptions,
  listVariables,
  type RevealedVariable,
  requireScope,
  requireVariableNames,
  revealVariable,
  revealVariables,
  type ScopeOptions,
  type Variable,
  type VariableScope,
  writeVariables,
} from "../variables/scope.ts";
import { isSensitive } from "../variables/sensitive.ts";
import { addVariableFileCommands } from "./vars-files.ts";

interface Options extends ScopeOptions, RecordOptions, MethodOptions {
  reveal?: boolean;
  yes?: boolean;
  profile?: string;
}

const COLUMNS: readonly Column<Variable>[] = [
  { title: "name", value: ({ name }) => name },
  {
    title: "sensitive",
    value: (variable) => (isSensitive(variable.storage_method) ? "yes" : "no"),
  },
  { title: "method", value: (variable) => variable.storage_method },
  { title: "version", value: ({ version }) => version },
  { title: "updated", value: (variable) => toLocalTime(variable.updated_at) },
];

/** `longshore vars`: the variables of an environment, or of a component. */
export function addVariableCommands(program: Command, context: CliContext): void {
  const group = program
    .command("vars")
    .description("variables of an environment or a component, whose values are secret");
  addExamples(
    addScopeOptions(addRecordOptions(group.command("ls")))
      .description("list the variables, without their values")
      .option("--reveal", "with their values, which the audit log records"),
    "vars ls -p storefront -e production",
    "vars ls --component web --json",
  ).action((_, self: Command) => list(context, self.optsWithGlobals()));
  addExamples(
    addScopeOptions(group.command("get"))
      .description("print the value of a variable; the audit log records it")
      .argument("<name>"),
    "vars get DATABASE_URL -e production",
  ).action((name: string, _, self: Command) => get(context, name, self.optsWithGlobals()));
  addSet(group, context);
  addExamples(
    addConsentOption(addScopeOptions(group.command("rm")))
      .description("delete variables")
      .argument("<names...>"),
    "vars rm OLD_TOKEN DEBUG --yes",
  ).action((names: string[], _, self: Command) => remove(context, names, self.optsWithGlobals()));
  addVariableFileCommands(group, context);
}

function addSet(group: Command, context: CliContext): void {
  const command = addScopeOptions(group.command("set"))
    .description("create or replace variables, all or none")
    .argument("<variables...>", "one NAME, whose value is read from stdin, or NAME=VALUE")
    .addHelpText(
      "after",
      `
A value on the command line is visible in the list of processes, and stays in the history of the shell.
Prefer stdin, or the hidden prompt on a terminal. A byte order mark at the start of stdin, and one newline at its
end, are not part of the value.
A variable keeps its storage method; a new one is sensitive, a secure string.`,
    );
  addExamples(
    addMethodOptions(command, "the value"),
    "vars set DATABASE_URL --sensitive < url.txt",
    "vars set LOG_LEVEL=debug REGION=eu-central-1 --no-sensitive",
  ).action((texts: string[], _, self: Command) => set(context, texts, self.optsWithGlobals()));
}

async function list(context: CliContext, options: Options): Promise<void> {
  const { output } = context;
  const session = await openSession(context, options);
  const scope = await requireScope(context, session, options);
  const print = { ...options, id: ({ id }: Variable) => id };
  if (options.reveal) {
    const rows = await revealVariables(session, scope);
    output.note("The audit log records that the values were read.");
    output.records<RevealedVariable>(
      rows,
      [...COLUMNS, { title: "value", value: ({ value }) => value }],
      print,
    );
    return;
  }
  const rows = await listVariables(session, scope);
  output.records(rows, COLUMNS, print);
  if (rows.length === 0 && !options.json) output.note(`There are no variables in ${scope.title}.`);
}

async function get(context: CliContext, name: string, options: Options): Promise<void> {
  const { output } = context;
  const session = await openSession(context, options);
  const scope = await requireScope(context, session, options);
  const [variable] = await findVariables(session, scope, [name]);
  const value = await revealVariable(session, variable?.id ?? "");
  if (!output.stdout.isTTY) output.printExactly(value);
  else output.print(value.split("\n").map(toPlainText).join("\n"));
}

async function set(context: CliContext, texts: readonly string[], options: Options): Promise<void> {
  const values = await readAssignments(context, texts);
  requireVariableNames(values.keys(), "set");
  const session = await openSession(context, options);
  const scope = await requireScope(context, session, options);
  const method = readMethod(options);
  const existing = method === undefined ? await listVariables(session, scope) : [];
  const methods = new Map(existing.map((each) => [each.name, each.storage_method]));
  const variables = [...values].map(([name, value]) => ({
    name,
    storage_method: method ?? methods.get(name) ?? DEFAULT_METHOD,
    value,
  }));
  await writeVariables(context, session, scope, "merge", variables);
  context.output.note(`Set ${[...values.keys()].join(", ")} in ${scope.title}.`);
}

/** One name has its value on stdin. The messages never contain a value. */
async function readAssignments(
  context: CliContext,
  texts: readonly string[],
): Promise<Map<string, string>> {
  const [first = ""] = texts;
  if (texts.length === 1 && !first.includes("=")) {
    requireVariableNames([first], "set");
    return new Map([[first, await readValue(context, first)]]);
  }
  const values = new Map<string, string>();
  for (const text of texts) {
    const at = text.indexOf("=");
    if (at < 0)
      throw new CliError(`Write NAME=VALUE for each of several variables: ${text} has no =.`);
    const name = text.slice(0, at);
    if (values.has(name)) throw new CliError(`The variable ${name} is given twice.`);
    values.set(name, text.slice(at + 1));
  }
  return values;
}

async function readValue(context: CliContext, name: string): Promise<string> {
  if (isInteractive(context)) return readSecret(context, `The value of ${name}`);
  return (await readInput(context, "-")).replace(/\r?\n$/, "");
}

async function remove(
  context: CliContext,
  names: readonly string[],
  options: Options,
): Promise<void> {
  const session = await openSession(context, options);
  const scope = await requireScope(context, session, options);
  const variables = await findVariables(session, scope, names);
  const list = variables.map(({ name }) => name).join(", ");
  await requireConsent(context, `Delete ${list} of ${scope.title}?`, options);
  for (const { id, name } of variables) {
    await session.client.delete("/v1/variables/{variable_id}", { path: { variable_id: id } });
    context.output.note(`Deleted ${name} of ${scope.title}.`);
  }
}

/** Throws unless all names exist. */
async function findVariables(
  session: Session,
  scope: VariableScope,
  names: readonly string[],
): Promise<Variable[]> {
  const variables = await listVariables(session, scope);
  const missing = names.filter((name) => !variables.some((each) => each.name === name));
  if (missing.length > 0) {
    throw new CliError(
      `There is no variable ${missing.join(", ")} in ${scope.title}. Run: longshore vars ls`,
    );
  }
  return variables.filter(({ name }) => names.includes(name));
}
