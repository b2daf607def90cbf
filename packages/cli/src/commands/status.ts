import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples } from "../command-options.ts";
import { describeCreator, describeSource } from "../deployments/describe.ts";
import { findLink } from "../link-file.ts";
import { toLocalTime } from "../local-time.ts";
import { type CliContext, openSession, type Session } from "../session.ts";
import { type Column, renderColumns, renderFields, renderTable } from "../table.ts";
import {
  addEnvironmentOption,
  type EnvironmentOptions,
  requireEnvironment,
  requireProject,
} from "../target.ts";

type Project = Schemas["Project"];
type Environment = Schemas["EnvironmentOverview"];

const OVERVIEW = "/v1/projects/{project_id}/overview";
const PAGE = 100;
const MAXIMUM_ENVIRONMENTS = 1_000;
/** The service lists at most so many that wait. */
const MAXIMUM_QUEUED = 5;

/** `longshore status`: the pipeline of a project. */
export function addStatusCommand(program: Command, context: CliContext): void {
  addExamples(
    addEnvironmentOption(
      program
        .command("status")
        .description(
          "print what runs in each environment of a project, its health, and what waits; a star marks the environment of this folder",
        )
        .option("--json", "print JSON, for programs"),
    ),
    "status",
    "status -p storefront -e production",
  ).action((_, command: Command) => status(context, command.optsWithGlobals()));
}

async function status(
  context: CliContext,
  options: EnvironmentOptions & { profile?: string; json?: boolean },
): Promise<void> {
  const { output } = context;
  const session = await openSession(context, options);
  const { project, only } = await findTarget(context, session, options);
  const environments = (await listEnvironments(session, project.id)).filter(
    ({ id }) => only === undefined || id === only,
  );
  const { url } = session;
  if (options.json) return output.json({ url, project, environments });
  const found = await findLink(context.folder);
  output.print(
    renderFields([
      ["url", url],
      ["project", `${project.name} (${project.id})${connectionOf(project)}`],
      ["link", found?.path],
    ]),
  );
  if (environments.length === 0) return output.note("There are no environments.");
  const isLinked = ({ id, name }: Environment) =>
    [project.id, project.name].includes(found?.link.project ?? "") &&
    [id, name].includes(found?.link.environment ?? "");
  output.print(`\n${renderTable(columnsOf(isLinked), environments)}`);
  const remarks = environments.flatMap(remarksOn);
  if (remarks.length > 0) output.print(`\n${renderColumns(remarks)}`);
}

async function findTarget(
  context: CliContext,
  session: Session,
  options: EnvironmentOptions,
): Promise<{ project: Project; only?: string }> {
  if (options.environment === undefined) {
    return { project: await requireProject(context, session, options) };
  }
  const { id, project_id } = await requireEnvironment(context, session, options);
  const project = await session.client.get("/v1/projects/{project_id}", { path: { project_id } });
  return { project, only: id };
}

/** In their order. Those that are newer than the order are last, the oldest first. */
async function listEnvironments(session: Session, projectId: string): Promise<Environment[]> {
  const { rows } = await session.list<Environment>(OVERVIEW, {
    path: { project_id: projectId },
    query: { limit: PAGE, sort_by: "+created_at" },
    limit: MAXIMUM_ENVIRONMENTS,
  });
  const place = ({ position = Number.MAX_SAFE_INTEGER }: Environment) => position;
  return rows.toSorted((one, other) => place(one) - place(other));
}

function columnsOf(isLinked: (environment: Environment) => boolean): Column<Environment>[] {
  return [
    { title: "environment", value: (each) => `${isLinked(each) ? "* " : "  "}${each.name}` },
    { title: "runs", value: ({ current_deployment: current }) => nameOf(current) },
    { title: "since", value: ({ current_deployment: of }) => toLocalTime(of?.finished_at) },
    { title: "by", value: ({ current_deployment: of }) => describeCreator(of?.created_by) },
    { title: "health", value: ({ health }) => health },
    {
      title: "deployment",
      value: ({ active_deployment: active, last_deployment: last }) => (active ?? last)?.status,
    },
    {
      title: "waiting",
      value: ({ queue }) => (queue.length < MAXIMUM_QUEUED ? queue.length : `${queue.length}+`),
    },
    { title: "url", value: ({ url }) => url },
  ];
}

function nameOf(deployment: Schemas["DeploymentSummary"] | undefined): string | undefined {
  return deployment && (describeSource(deployment.source) ?? deployment.id);
}

/** What needs somebody's attention. */
function remarksOn(environment: Environment): [name: string, remark: string][] {
  const { name, alarms, queue, last_deployment: last } = environment;
  const remarks = [
    ...alarms.map(({ stack_name, name, reason = "no reason given" }) => {
      return `The alarm ${name} of ${stack_name}: ${reason}`;
    }),
    ...queue.flatMap(({ id, awaits_approval, opens_at }) => [
      awaits_approval ? `The deployment ${id} waits for approvals.` : [],
      opens_at ? `The deployment ${id} waits until ${toLocalTime(opens_at)} at least.` : [],
    ]),
    last?.status === "failed" ? `The deployment ${last.id} has failed.` : [],
  ].flat();
  return remarks.map((remark) => [name, remark]);
}

/** A project deploys without a connection, so that `disconnected` would look like a fault. */
function connectionOf({ connection_status: status }: Project): string {
  return status === "disconnected" ? "" : `, ${status}`;
}
