import { inOrder } from "../../../../cli/src/in-order.ts";
import { client, type Schemas } from "../../api.ts";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { TimeAfter } from "../../components/time.tsx";
import { formatDuration, joinNames, showHidden } from "../../format.ts";
import { useReadOnce } from "../../query.ts";
import { ROOT } from "../../router.ts";

type Deployment = Schemas["Deployment"];
type Environment = Schemas["EnvironmentOverview"];

const MOST_ENVIRONMENTS = 240;
/** How many other environments are searched, each with a request of its own. */
const MOST_SEARCHED = 3;
/** How many successes of each are searched. */
const MOST_SUCCESSES = 50;

interface Trial {
  environment: Environment;
  /** Undefined: the content is not among its newest successes. */
  success: Deployment | undefined;
  /** The success that has replaced it. Undefined: it is live. */
  later: Deployment | undefined;
}

interface ElsewhereProps {
  deployment: Deployment;
  projectId: string;
}

/** What the same content did in the environments before this one. Nothing, if there are none. */
export function Elsewhere({ deployment, projectId }: ElsewhereProps) {
  const { data = [] } = useReadOnce(() => readTrials(deployment, projectId));
  if (data.length === 0) return null;
  return (
    <Section title="In other environments">
      <ul class="list" aria-label="In other environments">
        {data.map((trial) => (
          <li key={trial.environment.id}>
            <TrialRow {...trial} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function TrialRow({ environment, success, later }: Trial) {
  const name = <a href={`${ROOT}environments/${environment.id}`}>{showHidden(environment.name)}</a>;
  if (!success) return <p>{name}: not among its newest successes.</p>;
  const start = success.finished_at ?? success.created_at;
  const now = new Date().toISOString();
  const end = later && (later.finished_at ?? later.created_at);
  return (
    <>
      <p>
        {name}: <a href={`${ROOT}deployments/${success.id}`}>{end ? "ran" : "live"}</a>
        {` for ${formatDuration(Date.parse(end ?? now) - Date.parse(start))}`}
        <TimeAfter words=", until" at={end} />
      </p>
      {!end && <Alarms environment={environment} />}
    </>
  );
}

/** Alarms that are raised now: the API keeps no earlier ones. */
function Alarms({ environment: { health, alarms } }: { environment: Environment }) {
  if (!health) return <p class="soft">No alarm is set up there.</p>;
  if (alarms.length === 0) return <p class="soft">No alarm is raised there.</p>;
  return (
    <ul>
      {alarms.map(({ stack_id, stack_name, name, reason }) => (
        <li key={`${stack_id} ${name}`}>
          <Status of="alarm" />{" "}
          <a href={`${ROOT}stacks/${stack_id}`}>{joinNames([stack_name, name], ": ")}</a>{" "}
          {reason !== undefined && <bdi>{showHidden(reason)}</bdi>}
        </li>
      ))}
    </ul>
  );
}

async function readTrials(deployment: Deployment, project_id: string): Promise<Trial[]> {
  const overview = await client.get("/v1/projects/{project_id}/overview", {
    path: { project_id },
    query: { limit: MOST_ENVIRONMENTS },
  });
  const environments = inOrder(overview.data);
  const ids = await findEarlier(deployment, environments);
  const searched = environments.filter(({ id }) => ids.includes(id)).slice(0, MOST_SEARCHED);
  return Promise.all(searched.map((environment) => findTrial(deployment, environment)));
}

/** Where a rule asks for a success; else where the deployment comes from; else the one before. */
async function findEarlier(
  { environment_id, from_deployment_id }: Deployment,
  environments: readonly Environment[],
): Promise<readonly string[]> {
  const [rules, origin] = await Promise.all([
    client.get("/v1/environments/{environment_id}/protection", { path: { environment_id } }),
    from_deployment_id === undefined
      ? undefined
      : client
          .get("/v1/deployments/{deployment_id}", { path: { deployment_id: from_deployment_id } })
          // It may be deleted, or of an environment that the person may not read.
          .catch(() => undefined),
  ]);
  if (rules.from) return rules.from.environment_ids.filter((id) => id !== environment_id);
  if (origin && origin.environment_id !== environment_id) return [origin.environment_id];
  const at = environments.findIndex(({ id }) => id === environment_id);
  return environments.slice(Math.max(0, at - 1), at).map(({ id }) => id);
}

async function findTrial(deployment: Deployment, environment: Environment): Promise<Trial> {
  const { data } = await client.get("/v1/environments/{environment_id}/deployments", {
    path: { environment_id: environment.id },
    query: { status: ["succeeded"], limit: MOST_SUCCESSES },
  });
  const at = data.findIndex((each) => hasSameContent(each, deployment));
  return { environment, success: data[at], later: data[at - 1] };
}

function hasSameContent(one: Deployment, { from_deployment_id, data }: Deployment): boolean {
  const content = contentOf(data.source);
  return (
    one.id === from_deployment_id || (content !== "" && contentOf(one.data.source) === content)
  );
}

/** What tells a commit or an image from others. Empty: there is none. */
function contentOf({ git, registry }: Schemas["DeploymentSource"] = {}): string {
  if (git) return [git.provider, git.url ?? `${git.owner}/${git.repo}`, git.commit.sha].join(" ");
  return registry?.image ?? "";
}
