import type { Command } from "commander";
import type { Schemas } from "../../client/src/index.ts";
import { collect } from "./command-options.ts";
import { CliError } from "./errors.ts";
import { isId } from "./names.ts";
import type { CliContext, Session } from "./session.ts";
import { requireProject } from "./target.ts";

/** What narrows a key, or the keys of a trust. */
export interface BoundaryOptions {
  scope?: string[];
  project?: string[];
  environment?: string[];
}

export function addBoundaryOptions(command: Command): Command {
  return command
    .option("--scope <scope>", "such as deployments:write; may be repeated", collect)
    .option("--project <name>", "only this project, by name or ID; may be repeated", collect)
    .option("--environment <id>", "only this environment, by ID; may be repeated", collect);
}

export async function readBoundaries(
  context: CliContext,
  session: Session,
  { scope, project, environment }: BoundaryOptions,
) {
  const name = environment?.find((each) => !isId(each));
  if (name !== undefined) throw new CliError(`--environment needs an ID; "${name}" is not one.`);
  const projects =
    project &&
    (await Promise.all(project.map((each) => requireProject(context, session, { project: each }))));
  return {
    ...(scope && { scopes: scope as Schemas["Scope"][] }),
    ...(projects && { project_ids: projects.map(({ id }) => id) }),
    ...(environment && { environment_ids: environment }),
  };
}
