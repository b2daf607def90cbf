import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples, addRecordOptions } from "../command-options.ts";
import { KINDS } from "../named-kinds.ts";
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
  addRemove(group, context, STACKS, " with its resources and alarms");
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
