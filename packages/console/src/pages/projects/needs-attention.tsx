import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { joinNames, showHidden } from "../../format.ts";
import { useReadOnce } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { describeSource } from "../deployment/source.tsx";
import { WaitingApproval } from "../protection/waiting.tsx";
import type { Overview } from "./project-row.tsx";

type Environment = Schemas["EnvironmentOverview"];
type Pool = Schemas["RunnerPool"];

/** How many pools are asked for their runners, each with a request of its own. */
const MOST_POOLS = 5;

interface NeedsAttentionProps {
  approvals: readonly Schemas["PendingApproval"][];
  overviews: readonly Overview[];
}

/** What a person may have to do now, in the projects that were read. Without anything to do, nothing. */
export function NeedsAttention({ approvals, overviews }: NeedsAttentionProps) {
  const { data: pools = [] } = useReadOnce(readPoolsWithoutRunners);
  const environments = overviews.flatMap(({ project, data }) =>
    data.map((environment) => ({ project: project.name, environment })),
  );
  const items = [
    ...approvals.map((item) => <WaitingApproval key={item.deployment_id} approval={item} />),
    ...environments
      .filter(({ environment }) => hasFailed(environment))
      .map((each) => <Failure key={each.environment.id} {...each} />),
    ...environments.flatMap(({ project, environment }) =>
      environment.alarms.map((alarm) => (
        <RaisedAlarm
          key={`${alarm.stack_id} ${alarm.name}`}
          path={joinNames([project, environment.name], " / ")}
          alarm={alarm}
        />
      )),
    ),
    ...pools.map((pool) => <PoolWithoutRunners key={pool.id} pool={pool} />),
  ];
  if (items.length === 0) return null;
  return (
    <Section title="Needs attention">
      <ul class="list dense" aria-label="Needs attention">
        {items.map((item) => (
          <li key={item.key} class="list-item">
            {item}
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Whether the last deployment failed and no success has followed. */
function hasFailed({ last_deployment: last }: Environment): boolean {
  return last?.status === "failed";
}

interface FailureProps {
  project: string;
  environment: Environment;
}

function Failure({ project, environment: { name, last_deployment: last } }: FailureProps) {
  if (!last) return null;
  return (
    <>
      <span>
        <Status of="failed" />{" "}
        <a href={`${ROOT}deployments/${last.id}`}>{joinNames([project, name], " / ")}</a>{" "}
        <span class="soft small">{describeSource(last.source)}</span>
      </span>
      <Time at={last.finished_at ?? last.created_at} />
    </>
  );
}

function RaisedAlarm({ path, alarm }: { path: string; alarm: Schemas["RaisedAlarm"] }) {
  const { stack_id, stack_name, name, changed_at } = alarm;
  return (
    <>
      <span>
        <Status of="alarm" />{" "}
        <a href={`${ROOT}stacks/${stack_id}`}>{joinNames([stack_name, name], ": ")}</a>{" "}
        <span class="soft small">{path}</span>
      </span>
      <Time at={changed_at} />
    </>
  );
}

function PoolWithoutRunners({ pool: { id, name } }: { pool: Pool }) {
  return (
    <span>
      <Status of="offline" /> <a href={`${ROOT}runners/${id}`}>{showHidden(name)}</a>{" "}
      <span class="soft small">No runner of this pool is online.</span>
    </span>
  );
}

async function readPoolsWithoutRunners(): Promise<Pool[]> {
  if (!can("listRunnerPools") || !can("listRunnerPoolRunners")) return [];
  const path = { org_id: currentWho().organization.id };
  const { data } = await client.get("/v1/orgs/{org_id}/runner-pools", {
    path,
    query: { limit: MOST_POOLS },
  });
  const pools = data.filter(({ environment_ids }) => environment_ids.length > 0);
  const runners = await Promise.all(
    pools.map(({ id }) =>
      client.get("/v1/orgs/{org_id}/runner-pools/{pool_id}/runners", {
        path: { ...path, pool_id: id },
        query: { limit: 1 },
      }),
    ),
  );
  return pools.filter((_, at) => runners[at]?.data.length === 0);
}
