import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples } from "../command-options.ts";
import { writeLink } from "../link-file.ts";
import { KINDS } from "../named-kinds.ts";
import { findRecord, isId, type NamedRecord } from "../names.ts";
import { choose } from "../prompts.ts";
import { type CliContext, openSession, type Session } from "../session.ts";

type Project = Schemas["Project"];
type Environment = Schemas["Environment"];

const MAXIMUM_CHOICES = 200;

/** `longshore link`. */
export function addLinkCommand(program: Command, context: CliContext): void {
  addExamples(
    program
      .command("link")
      .description(
        "write .longshore.json, which names the project and the environment of this folder",
      )
      .argument("[project]", "name or ID")
      .argument("[environment]", "name or ID; the project's default environment if it is absent"),
    "link storefront staging",
  ).action((project: string | undefined, environment: string | undefined, _, command: Command) =>
    link(context, { project, environment }, command.optsWithGlobals()),
  );
}

async function link(
  context: CliContext,
  given: { project: string | undefined; environment: string | undefined },
  options: { profile?: string },
): Promise<void> {
  const session = await openSession(context, options);
  const project = await pickProject(context, session, given.project);
  const environment = await pickEnvironment(context, session, project, given);
  const path = await writeLink(context.folder, {
    // An ID stays one: names need not be unique.
    project: isId(given.project ?? "") ? project.id : project.name,
    environment: isId(given.environment ?? "") ? environment.id : environment.name,
  });
  context.output.note(`Linked to ${environment.name} of ${project.name}, in ${path}`);
}

async function pickProject(
  context: CliContext,
  session: Session,
  name: string | undefined,
): Promise<Project> {
  const chosen = name ?? (await pick(context, session, "Project", KINDS.project.listPath, {}));
  return findRecord(session, KINDS.project, {}, chosen);
}

async function pickEnvironment(
  context: CliContext,
  session: Session,
  project: Project,
  given: { project: string | undefined; environment: string | undefined },
): Promise<Environment> {
  const path = { project_id: project.id };
  // With the project alone, nothing is asked.
  const chosen =
    given.environment ??
    (given.project === undefined
      ? await pick(context, session, "Environment", KINDS.environment.listPath, path)
      : project.default_environment_id);
  return findRecord(session, KINDS.environment, path, chosen);
}

async function pick(
  context: CliContext,
  session: Session,
  message: string,
  listPath: string,
  path: Record<string, string>,
): Promise<string> {
  const { rows } = await session.list<NamedRecord & { id: string }>(listPath, {
    path,
    limit: MAXIMUM_CHOICES,
  });
  const choices = rows.map(({ id, name }) => ({ value: id, label: name }));
  return choose(context, message, choices, "Name the project: longshore link PROJECT ENVIRONMENT");
}
