import type { Command } from "commander";
import type { Schemas } from "../../../client/src/index.ts";
import { addExamples } from "../command-options.ts";
import { describeCreator, describeSource } from "../deployments/describe.ts";
import { DEPLOYMENTS } from "../deployments/find-deployment.ts";
import { inOrder } from "../in-order.ts";
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
/** Of the queue of an environment, the overview has the first. */
const LISTED_QUEUED = 5;
const MAXIMUM_QUEUED = 100;

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
  const { rows, hasMore } = await listEnvironments(session, project.id);
  const environments = rows.filter(({ id }) => only === undefined || id === only);
  if (hasMore) {
    output.note(
      `The project has more than ${MAXIMUM_ENVIRONMENTS} environments; the others are left out. Run: longshore environments ls`,
    );
  }
  const { url } = session;
  if (options.json) return output.json({ url, project, environments });
  const found = await findLink(context);
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
  const waiting = await countWaiting(session, environments);
  output.print(`\n${renderTable(columnsOf(isLinked, waiting), environments)}`);
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

/** In their order. */
async function listEnvironments(session: Session, projectId: string) {
  const { rows, hasMore } = await session.list<Environment>(OVERVIEW, {
    path: { project_id: projectId },
    query: { limit: PAGE },
    limit: MAXIMUM_ENVIRONMENTS,
  });
  return { rows: inOrder(rows), hasMore };
}

/** How many deployments wait in each environment. Only of a long queue does the overview not say it. */
async function countWaiting(
  session: Session,
  environments: readonly Environment[],
): Promise<Map<string, string>> {
  const counts = new Map<string, string>();
  for (const { id, queue } of environments) {
    const count = queue.length < LISTED_QUEUED ? queue.length : await countQueued(session, id);
    counts.set(id, String(count));
  }
  return counts;
}

async function countQueued(session: Session, environmentId: string): Promise<string> {
  const { rows, hasMore } = await session.list(DEPLOYMENTS, {
    path: { environment_id: environmentId },
    query: { limit: PAGE, status: ["queued"] },
    limit: MAXIMUM_QUEUED,
  });
  return `${rows.length}${hasMore ? "+" : ""}`;
}

function columnsOf(
  isLinked: (environment: Environment) => boolean,
  waiting: ReadonlyMap<string, string>,
): Column<Environment>[] {
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
      value: ({ id }) => waiting.get(id),
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
