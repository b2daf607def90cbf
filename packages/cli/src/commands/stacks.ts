import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples, addRecordOptions } from "../command-options.ts";
import { inOrder } from "../in-order.ts";
import { KINDS } from "../named-kinds.ts";
import { orderByName } from "../named-order.ts";
import type { RecordOptions } from "../output.ts";
import { addList, addRemove, addShow, find, printRecord, type Resource } from "../resource.ts";
import { type CliContext, openSession } from "../session.ts";
import {
  addEnvironmentOption,
  type EnvironmentOptions,
  environmentPath,
  requireEnvironment,
} from "../target.ts";
import { COMPONENTS } from "./components.ts";

type Stack = Schemas["Stack"];

export const STACKS: Resource<Stack> = {
  kind: KINDS.stack,
  columns: [
    { title: "name", value: ({ name }) => name },
    { title: "id", value: ({ id }) => id },
    { title: "component", value: (stack) => stack.component_id },
  ],
  inOrder,
  addOwnerOptions: addEnvironmentOption,
  ownerPath: environmentPath,
};

interface CreateOptions extends RecordOptions, EnvironmentOptions {
  component?: string;
  profile?: string;
}

export function addStackCommands(program: Command, context: CliContext): void {
  const group = program.command("stacks").description("stacks of an environment");
  addList(group, context, STACKS);
  addShow(group, context, STACKS);
  addExamples(
    addEnvironmentOption(addRecordOptions(group.command("create")))
      .description("create a stack")
      .argument("<name>")
      .option("--component <name>", "the component that it belongs to, by name or ID"),
    "stacks create web --component web",
  ).action((name: string, _, self: Command) => create(context, name, self.optsWithGlobals()));
  addExamples(
    addEnvironmentOption(group.command("order"))
      .description(
        "set the order in which an environment deploys its stacks, as far as they do not need each other; those that are not " +
          "named come last",
      )
      .argument("<name...>", "name or ID"),
    "stacks order infra api web",
  ).action((names: string[], _, self: Command) => order(context, names, self.optsWithGlobals()));
  addRemove(group, context, STACKS, " with its resources and alarms");
}

async function order(
  context: CliContext,
  names: readonly string[],
  options: EnvironmentOptions & { profile?: string },
): Promise<void> {
  const session = await openSession(context, options);
  const { id } = await requireEnvironment(context, session, options);
  const path = { environment_id: id };
  const ordered = await orderByName(session, KINDS.stack, path, names);
  await session.client.put("/v1/environments/{environment_id}/stack-order", {
    path,
    body: { stack_ids: [...ordered.keys()] },
  });
  context.output.note(`Order of the stacks: ${[...ordered.values()].join(", ")}.`);
}

async function create(context: CliContext, name: string, options: CreateOptions): Promise<void> {
  const session = await openSession(context, options);
  const { id } = await requireEnvironment(context, session, options);
  const component =
    options.component === undefined
      ? undefined
      : await find(context, session, COMPONENTS, options, options.component);
  const stack = await session.client.post("/v1/environments/{environment_id}/stacks", {
    path: { environment_id: id },
    body: { name, ...(component && { component_id: component.record.id }) },
  });
  printRecord(context, STACKS, stack, options);
}
