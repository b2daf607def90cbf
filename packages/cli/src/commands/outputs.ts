import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples } from "../command-options.ts";
import { listOutputs, outputsByStack, type StackOutput } from "../deployments/outputs.ts";
import { KINDS } from "../named-kinds.ts";
import { find } from "../resource.ts";
import { type CliContext, openSession } from "../session.ts";
import type { Column } from "../table.ts";
import { addEnvironmentOption, type EnvironmentOptions, environmentPath } from "../target.ts";
import { STACKS } from "./stacks.ts";

interface Options extends EnvironmentOptions {
  json?: boolean;
  profile?: string;
}

/** More than an environment can have. */
const MAXIMUM_STACKS = 10_000;

const COLUMNS: readonly Column<StackOutput>[] = [
  { title: "name", value: ({ name }) => name },
  { title: "value", value: ({ value }) => value },
];
const COLUMNS_OF_ENVIRONMENT = [
  { title: "stack", value: ({ stack }: StackOutput) => stack },
  ...COLUMNS,
];

/** `longshore outputs`. */
export function addOutputsCommand(program: Command, context: CliContext): void {
  const command = program
    .command("outputs")
    .description("print the outputs of the last success, such as url: of all stacks, or of one")
    .argument("[stack]", "name or ID; all of the environment by default")
    .option(
      "--json",
      "print JSON, for programs: an object by stack and name, or by name of one stack",
    );
  addExamples(
    addEnvironmentOption(command),
    "outputs -p storefront -e production",
    "outputs web --json | jq -r .url",
  ).action((stack: string | undefined, _, self: Command) =>
    stack === undefined
      ? printOfEnvironment(context, self.optsWithGlobals())
      : printOfStack(context, stack, self.optsWithGlobals()),
  );
}

async function printOfEnvironment(context: CliContext, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const path = await environmentPath(context, session, options);
  const list = { path, limit: MAXIMUM_STACKS };
  const { rows } = await session.list<Schemas["Stack"]>(KINDS.stack.listPath, list);
  print(context, listOutputs(rows), COLUMNS_OF_ENVIRONMENT, options.json && outputsByStack(rows));
}

async function printOfStack(context: CliContext, name: string, options: Options): Promise<void> {
  const session = await openSession(context, options);
  const { record } = await find(context, session, STACKS, options, name);
  print(context, listOutputs([record]), COLUMNS, options.json && (record.outputs ?? {}));
}

function print(
  { output }: CliContext,
  rows: readonly StackOutput[],
  columns: readonly Column<StackOutput>[],
  json: object | false | undefined,
): void {
  if (json) output.json(json);
  else if (rows.length === 0) output.note("There are no outputs.");
  else output.records(rows, columns, { id: ({ name }) => name });
}
