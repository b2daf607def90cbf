import { type Command, Option } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples, addRecordOptions } from "../command-options.ts";
import { KINDS } from "../named-kinds.ts";
import type { RecordOptions } from "../output.ts";
import { addList, addRemove, addShow, printRecord, type Resource } from "../resource.ts";
import { type CliContext, openSession } from "../session.ts";
import {
  addEnvironmentOption,
  type EnvironmentOptions,
  environmentPath,
  requireEnvironment,
} from "../target.ts";

type Component = Schemas["Component"];
type Kind = Schemas["ComponentKind"];

const KIND_NAMES = ["service", "worker", "job", "site"] as const satisfies readonly Kind[];

export const COMPONENTS: Resource<Component> = {
  kind: KINDS.component,
  columns: [
    { title: "name", value: ({ name }) => name },
    { title: "id", value: ({ id }) => id },
    { title: "kind", value: ({ kind }) => kind },
  ],
  addOwnerOptions: addEnvironmentOption,
  ownerPath: environmentPath,
};

interface CreateOptions extends RecordOptions, EnvironmentOptions {
  kind: Kind;
  profile?: string;
}

export function addComponentCommands(program: Command, context: CliContext): void {
  const group = program.command("components").description("components of an environment");
  addList(group, context, COMPONENTS);
  addShow(group, context, COMPONENTS);
  addExamples(
    addEnvironmentOption(addRecordOptions(group.command("create")))
      .description("create a component")
      .argument("<name>")
      .addOption(new Option("--kind <kind>").choices(KIND_NAMES).makeOptionMandatory()),
    "components create web --kind service",
  ).action((name: string, _, self: Command) => create(context, name, self.optsWithGlobals()));
  addRemove(group, context, COMPONENTS, " with its variables");
}

async function create(context: CliContext, name: string, options: CreateOptions): Promise<void> {
  const session = await openSession(context, options);
  const { id } = await requireEnvironment(context, session, options);
  const component = await session.client.post("/v1/environments/{environment_id}/components", {
    path: { environment_id: id },
    body: { name, kind: options.kind },
  });
  printRecord(context, COMPONENTS, component, options);
}
