import type { Command } from "commander";
import type { Schemas } from "../../client/src/index.ts";
import { requireConfirmed } from "./confirmed-links.ts";
import { CliError } from "./errors.ts";
import { findLink, type Link } from "./link-file.ts";
import { KINDS } from "./named-kinds.ts";
import { findRecord, isId } from "./names.ts";
import type { CliContext, Session } from "./session.ts";

export interface ProjectOptions {
  project?: string;
}

export interface EnvironmentOptions extends ProjectOptions {
  environment?: string;
}

type Project = Schemas["Project"];
type Environment = Schemas["Environment"];

export function addProjectOption(command: Command): Command {
  return command.option("-p, --project <name>", "name or ID; that of the link by default");
}

export function addEnvironmentOption(command: Command): Command {
  return addProjectOption(command).option(
    "-e, --environment <name>",
    "name or ID; that of the link by default",
  );
}

/** The project of the options, or that of the link, which the user has confirmed. */
export async function requireProject(
  context: CliContext,
  session: Session,
  { project }: ProjectOptions,
): Promise<Project> {
  const found = project === undefined ? await findLink(context) : undefined;
  if (found) await requireConfirmed(context, session, found);
  const name = project ?? found?.link.project;
  if (name !== undefined) return findRecord(session, KINDS.project, {}, name);
  throw new CliError(
    "Name the project with --project, or link this folder: longshore link PROJECT ENVIRONMENT",
  );
}

/** The environment of the options, or that of the link. Needs no project if the option is an ID. */
export async function requireEnvironment(
  context: CliContext,
  session: Session,
  options: EnvironmentOptions,
): Promise<Environment> {
  const found = needsLink(options) ? await findLink(context) : undefined;
  const name = options.environment ?? environmentOf(found?.link, options);
  if (name === undefined) {
    throw new CliError(
      "Name the environment with --environment, or link this folder: longshore link PROJECT ENVIRONMENT",
    );
  }
  if (found) await requireConfirmed(context, session, found);
  const project = options.project ?? found?.link.project;
  if (project === undefined || (isId(name) && options.project === undefined)) {
    return findById(session, name);
  }
  const { id } = await findRecord<Project>(session, KINDS.project, {}, project);
  return findRecord<Environment>(session, KINDS.environment, { project_id: id }, name);
}

/** A link changes nothing if an ID or both names are given. */
function needsLink({ project, environment }: EnvironmentOptions): boolean {
  return environment === undefined || (project === undefined && !isId(environment));
}

/** Another project's environment of the same name is not meant. */
function environmentOf(link: Link | undefined, { project }: ProjectOptions): string | undefined {
  return project === undefined || project === link?.project ? link?.environment : undefined;
}

function findById(session: Session, id: string): Promise<Environment> {
  if (isId(id)) {
    return session.read("/v1/environments/{environment_id}", { path: { environment_id: id } });
  }
  throw new CliError(`Name the project of the environment ${id} with --project.`);
}

/** The environment's parameters in the paths of its lists. */
export async function environmentPath(
  context: CliContext,
  session: Session,
  options: EnvironmentOptions,
): Promise<Record<string, string>> {
  return { environment_id: (await requireEnvironment(context, session, options)).id };
}

export async function projectPath(
  context: CliContext,
  session: Session,
  options: ProjectOptions,
): Promise<Record<string, string>> {
  return { project_id: (await requireProject(context, session, options)).id };
}

/** The organization is that of the key. */
export async function organizationPath(
  _: CliContext,
  session: Session,
): Promise<Record<string, string>> {
  return { org_id: await session.organizationId() };
}
