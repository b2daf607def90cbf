import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples, addRecordOptions } from "../command-options.ts";
import { inOrder } from "../in-order.ts";
import { toLocalTime } from "../local-time.ts";
import { KINDS } from "../named-kinds.ts";
import { orderByName } from "../named-order.ts";
import { findRecord, type NamedRecord } from "../names.ts";
import type { RecordOptions } from "../output.ts";
import { readJsonInput } from "../read-input.ts";
import { addList, addRemove, addShow, find, printRecord, type Resource } from "../resource.ts";
import { type CliContext, openSession } from "../session.ts";
import { addProjectOption, type ProjectOptions, projectPath, requireProject } from "../target.ts";

type Environment = Schemas["Environment"];

const ENVIRONMENTS: Resource<Environment> = {
  kind: KINDS.environment,
  columns: [
    { title: "name", value: ({ name }) => name },
    { title: "id", value: ({ id }) => id },
    { title: "updated", value: (environment) => toLocalTime(environment.updated_at) },
  ],
  inOrder,
  addOwnerOptions: addProjectOption,
  ownerPath: projectPath,
};

interface CreateOptions extends RecordOptions, ProjectOptions {
  configuration?: string;
  profile?: string;
}

interface UpdateOptions extends RecordOptions, ProjectOptions {
  /** False: of no particular stack. */
  urlStack: string | false;
  profile?: string;
}

export function addEnvironmentCommands(program: Command, context: CliContext): void {
  const group = program.command("environments").description("environments of a project");
  addList(group, context, ENVIRONMENTS);
  addShow(group, context, ENVIRONMENTS);
  addExamples(
    addProjectOption(addRecordOptions(group.command("create")))
      .description("create an environment")
      .argument("<name>")
      .option("--configuration <file>", "a JSON object; - is stdin"),
    "environments create staging --project storefront",
    "echo '{\"replicas\": 2}' | longshore environments create staging --configuration -",
  ).action((name: string, _, self: Command) => create(context, name, self.optsWithGlobals()));
  addProjectOption(addRecordOptions(group.command("rename")))
    .description("rename an environment")
    .argument("<name>", "name or ID")
    .argument("<new-name>")
    .action((name: string, newName: string, _, self: Command) =>
      rename(context, { name, newName }, self.optsWithGlobals()),
    );
  addExamples(
    addProjectOption(addRecordOptions(group.command("update")))
      .description("choose the stack whose URL is the environment's")
      .argument("<name>", "name or ID")
      .requiredOption("--url-stack <name>", "a stack of the environment, by name or ID")
      .option("--no-url-stack", "the stack that last reported a URL"),
    "environments update production --url-stack web",
    "environments update production --no-url-stack",
  ).action((name: string, _, self: Command) => update(context, name, self.optsWithGlobals()));
  addExamples(
    addProjectOption(group.command("order"))
      .description("set the order of the environments; those that are not named come last")
      .argument("<name...>", "name or ID"),
    "environments order staging production",
  ).action((names: string[], _, self: Command) => order(context, names, self.optsWithGlobals()));
  addRemove(group, context, ENVIRONMENTS, " with its variables and deployments");
}

async function create(context: CliContext, name: string, options: CreateOptions): Promise<void> {
  const session = await openSession(context, options);
  const { id } = await requireProject(context, session, options);
  const { configuration: file } = options;
  const configuration = file === undefined ? undefined : await readJsonInput(context, file);
  const environment = await session.client.post("/v1/projects/{project_id}/environments", {
    path: { project_id: id },
    body: {
      name,
      // The service says what is wrong with another value.
      ...(configuration !== undefined && { configuration: configuration as Record<string, never> }),
    },
  });
  printRecord(context, ENVIRONMENTS, environment, options);
}

async function rename(
  context: CliContext,
  { name, newName }: { name: string; newName: string },
  options: RecordOptions & ProjectOptions & { profile?: string },
): Promise<void> {
  const session = await openSession(context, options);
  const { record } = await find(context, session, ENVIRONMENTS, options, name);
  const environment = await session.client.patch("/v1/environments/{environment_id}", {
    path: { environment_id: record.id },
    body: { name: newName },
  });
  printRecord(context, ENVIRONMENTS, environment, options);
}

async function update(
  context: CliContext,
  name: string,
  { urlStack, ...options }: UpdateOptions,
): Promise<void> {
  const session = await openSession(context, options);
  const { record } = await find(context, session, ENVIRONMENTS, options, name);
  const path = { environment_id: record.id };
  const stack = urlStack
    ? await findRecord<NamedRecord & { id: string }>(session, KINDS.stack, path, urlStack)
    : null;
  const environment = await session.client.patch("/v1/environments/{environment_id}", {
    path,
    body: { url_stack_id: stack?.id ?? null },
  });
  printRecord(context, ENVIRONMENTS, environment, options);
}

async function order(
  context: CliContext,
  names: readonly string[],
  options: ProjectOptions & { profile?: string },
): Promise<void> {
  const session = await openSession(context, options);
  const { id } = await requireProject(context, session, options);
  const path = { project_id: id };
  const ordered = await orderByName(session, KINDS.environment, path, names);
  await session.client.put("/v1/projects/{project_id}/environment-order", {
    path,
    body: { environment_ids: [...ordered.keys()] },
  });
  context.output.note(`Order of the environments: ${[...ordered.values()].join(", ")}.`);
}
