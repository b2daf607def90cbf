import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples } from "../command-options.ts";
import { confirmLink, describeLink } from "../confirmed-links.ts";
import { CliError } from "../errors.ts";
import { inOrder } from "../in-order.ts";
import { findLink, LINK_FILE, writeLink } from "../link-file.ts";
import { KINDS } from "../named-kinds.ts";
import { findRecord, isId, type NamedRecord } from "../names.ts";
import { choose } from "../prompts.ts";
import { type CliContext, openSession, type Session } from "../session.ts";

interface Options {
  confirm?: boolean;
  profile?: string;
}

type Project = Schemas["Project"];
type Environment = Schemas["Environment"];

type Choice = NamedRecord & { id: string; created_at: string; position?: number };

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
      .argument("[environment]", "name or ID; the project's default environment if it is absent")
      .option("--confirm", "use the .longshore.json that is here or above, as it is now"),
    "link storefront staging",
    "link --confirm",
  ).action((project: string | undefined, environment: string | undefined, _, command: Command) => {
    const options = command.optsWithGlobals<Options>();
    return options.confirm
      ? confirm(context, project)
      : link(context, { project, environment }, options);
  });
}

/** Needs no service: the file is to be used as it is. */
async function confirm(context: CliContext, project: string | undefined): Promise<void> {
  if (project !== undefined) {
    throw new CliError("--confirm is for the file that is there. Omit it, or the names.");
  }
  const file = await findLink(context);
  if (!file) {
    throw new CliError(
      `There is no ${LINK_FILE} of yours here or above. Run: longshore link PROJECT ENVIRONMENT`,
    );
  }
  await confirmLink(context, file);
  context.output.note(`Confirmed ${describeLink(file)}, in ${file.path}`);
}

async function link(
  context: CliContext,
  given: { project: string | undefined; environment: string | undefined },
  options: Options,
): Promise<void> {
  const session = await openSession(context, options);
  const project = await pickProject(context, session, given.project);
  const environment = await pickEnvironment(context, session, project, given);
  const path = await writeLink(context, {
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
      ? await pick(context, session, "Environment", KINDS.environment.listPath, path, inOrder)
      : project.default_environment_id);
  return findRecord(session, KINDS.environment, path, chosen);
}

async function pick(
  context: CliContext,
  session: Session,
  message: string,
  listPath: string,
  path: Record<string, string>,
  sort = (rows: readonly Choice[]) => [...rows],
): Promise<string> {
  const { rows } = await session.list<Choice>(listPath, { path, limit: MAXIMUM_CHOICES });
  const choices = sort(rows).map(({ id, name }) => ({ value: id, label: name }));
  return choose(context, message, choices, "Name the project: longshore link PROJECT ENVIRONMENT");
}
