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
  limit: number;
  profile?: string;
}

/** `longshore changelog`: the changes to a project. */
export function addChangelogCommand(program: Command, context: CliContext): void {
  addExamples(
    addLimitOption(addProjectOption(addRecordOptions(program.command("changelog")))).description(
      "list the changes to a project, newest first; --json shows them in full",
    ),
    "changelog -p storefront",
    "changelog --limit 500 --json",
  ).action((_, self: Command) => list(context, self.optsWithGlobals()));
}

async function list(context: CliContext, options: Options): Promise<void> {
  const session = await openSession(context, options);
  await printRecords<Entry>(context, session, options, {
    noun: "changes",
    listPath: "/v1/projects/{project_id}/changelog",
    path: await projectPath(context, session, options),
    columns: [
      { title: "time", value: (entry) => toLocalTime(entry.created_at) },
      { title: "action", value: ({ action }) => action },
      { title: "record", value: ({ record: { type, id, name } }) => `${type} ${name ?? id}` },
      { title: "fields", value: (entry) => changedFields(entry).join(", ") },
      { title: "member", value: ({ actor }) => actor?.membership_id ?? "the service" },
    ],
  });
}

function changedFields({ action, before = {}, after = {} }: Entry): string[] {
  return action === "updated" ? Object.keys({ ...before, ...after }) : [];
}
