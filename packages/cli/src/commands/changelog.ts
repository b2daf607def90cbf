import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples, addRecordOptions } from "../command-options.ts";
import { toLocalTime } from "../local-time.ts";
import type { RecordOptions } from "../output.ts";
import { addLimitOption } from "../resource.ts";
import { type CliContext, openSession } from "../session.ts";
import { addProjectOption, type ProjectOptions, projectPath } from "../target.ts";
import { printRecords } from "../time-lists.ts";

type Entry = Schemas["ChangelogEntry"];

interface Options extends RecordOptions, ProjectOptions {
  actor?: string;
  record?: string;
  limit: number;
  profile?: string;
}

/** `longshore changelog`: the changes to a project. */
export function addChangelogCommand(program: Command, context: CliContext): void {
  const command = program
    .command("changelog")
    .description("list the changes to a project, newest first; --json shows them in full")
    .option("--actor <name>", "only what this person or service account has changed")
    .option("--record <name>", "only changes to what has this name");
  addExamples(
    addLimitOption(addProjectOption(addRecordOptions(command))),
    "changelog -p storefront",
    "changelog --actor Mona --limit 500 --json",
  ).action((_, self: Command) => list(context, self.optsWithGlobals()));
}

async function list(context: CliContext, options: Options): Promise<void> {
  const session = await openSession(context, options);
  await printRecords<Entry>(context, session, options, {
    noun: "changes",
    listPath: "/v1/projects/{project_id}/changelog",
    path: await projectPath(context, session, options),
    query: { actor_name: options.actor, record_name: options.record },
    columns: [
      { title: "time", value: (entry) => toLocalTime(entry.created_at) },
      { title: "action", value: ({ action }) => action },
      { title: "record", value: ({ record: { type, id, name } }) => `${type} ${name ?? id}` },
      { title: "fields", value: (entry) => changedFields(entry).join(", ") },
      {
        title: "member",
        value: ({ actor }) => actor?.name ?? actor?.membership_id ?? "the service",
      },
    ],
  });
}

function changedFields({ action, before = {}, after = {} }: Entry): string[] {
  return action === "updated" ? Object.keys({ ...before, ...after }) : [];
}
