import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { CliError } from "../errors.ts";
import { toPlainText } from "../plain-text.ts";
import type { CliContext, Session } from "../session.ts";
import { renderFields } from "../table.ts";
import { describeVariables } from "./changed-variables.ts";
import { describeSource } from "./describe.ts";
import { readPlace } from "./find-deployment.ts";
import { reasonsToWait } from "./follow.ts";
import { printPatch } from "./print-details.ts";
import { StackNames } from "./stack-names.ts";

type Preview = Schemas["DeploymentPreview"];

export function addDryRunOption(command: Command): Command {
  return command.option(
    "--dry-run",
    "create nothing: print what would change, and what it would wait for",
  );
}

/**
 * Prints what a deployment would do.
 *
 * @throws CliError with the error that its creation would have.
 */
export async function printPreview(
  { output }: CliContext,
  session: Session,
  preview: Preview,
  { json }: { json?: boolean },
): Promise<void> {
  const { error, patch = [] } = preview;
  if (json) output.json(preview);
  else {
    const [place, names] = await Promise.all([
      readPlace(session, preview.environment_id),
      StackNames.read(session, preview.environment_id),
    ]);
    output.print(renderFields(fieldsOf(preview, place, names)));
    if (patch.length > 0) output.print("");
    printPatch(output, patch);
    if (preview.references.length > 0) output.print("");
    for (const reference of preview.references) output.print(describeReference(reference));
  }
  if (error)
    throw new CliError(`It would be refused: ${toPlainText(error.message)} (${error.code})`);
  output.note("Nothing was created.");
}

/** In one line: where it is, what it is, its value, and why there is none or may be another one. */
function describeReference({ pointer, reference, value, note }: Preview["references"][number]) {
  const shown = value === undefined ? note : `${value}${note ? ` (${note})` : ""}`;
  return toPlainText(`${pointer}: ${reference} = ${shown ?? ""}`);
}

export async function previewRedeployment(
  context: CliContext,
  session: Session,
  id: string,
  options: { json?: boolean },
): Promise<void> {
  const preview = await session.client.get("/v1/deployments/{deployment_id}/redeployment", {
    path: { deployment_id: id },
  });
  context.output.note(describeVariables(preview.changed_variables));
  await printPreview(context, session, preview, options);
}

function fieldsOf(
  preview: Preview,
  { project, environment }: Awaited<ReturnType<typeof readPlace>>,
  names: StackNames,
): [name: string, value: unknown][] {
  const { source, stack_ids, superseded_ids: superseded } = preview;
  return [
    ["project", project],
    ["environment", environment],
    ["source", describeSource(source)],
    ["stacks", stack_ids.map((id) => names.of(id)).join(", ")],
    ...superseded.map((id): [string, string] => ["supersedes", id]),
    ...reasonsToWait(preview).map((reason): [string, string] => ["waits for", reason]),
  ];
}
