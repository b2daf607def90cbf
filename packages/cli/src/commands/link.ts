import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples } from "../command-options.ts";
import { findLink, writeLink } from "../link-file.ts";
import { KINDS } from "../named-kinds.ts";
import { findRecord, isId, type NamedRecord } from "../names.ts";
import { choose } from "../prompts.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { renderFields } from "../table.ts";
import { addEnvironmentOption, type EnvironmentOptions, requireEnvironment } from "../target.ts";

type Project = Schemas["Project"];
type Environment = Schemas["Environment"];

const MAXIMUM_CHOICES = 200;

/** `link` and `status`. */
export function addLinkCommands(program: Command, context: CliContext): void {
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
  addEnvironmentOption(
    program
      .command("status")
      .description("print where commands of this folder go, and the newest deployment there")
      .option("--json", "print JSON, for programs"),
  ).action((_, command: Command) => status(context, command.optsWithGlobals()));
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

async function status(
  context: CliContext,
  options: EnvironmentOptions & { profile?: string; json?: boolean },
): Promise<void> {
  const session = await openSession(context, options);
  const environment = await requireEnvironment(context, session, options);
  const [project, deployments, found] = await Promise.all([
    session.client.get("/v1/projects/{project_id}", {
      path: { project_id: environment.project_id },
    }),
    session.client.get("/v1/environments/{environment_id}/deployments", {
      path: { environment_id: environment.id },
      query: { limit: 1 },
    }),
    findLink(context.folder),
  ]);
  const [deployment] = deployments.data;
  if (options.json) {
    return context.output.json({
      url: session.url,
      project,
      environment,
      deployment: deployment ?? null,
    });
  }
  context.output.print(
    renderFields([
      ["url", session.url],
      ["project", `${project.name} (${project.id})${connectionOf(project)}`],
      ["environment", `${environment.name} (${environment.id})`],
      ["link", found?.path],
      [
        "deployment",
        deployment && `${deployment.id}, ${deployment.status}, ${deployment.created_at}`,
      ],
    ]),
  );
}

/** A project deploys without a connection, so that `disconnected` would look like a fault. */
function connectionOf({ connection_status: status }: Project): string {
  return status === "disconnected" ? "" : `, ${status}`;
}
