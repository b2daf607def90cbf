import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { ItemList } from "../../components/item-list.tsx";
import { Page } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { TimeAfter } from "../../components/time.tsx";
import { formatCount, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { EditPool } from "./edit-pool.tsx";

/** How many pools show their runners, each with a request of its own. */
const MOST_WITH_RUNNERS = 12;

export function RunnerPoolsPage() {
  const path = { org_id: currentWho().organization.id };
  const isReadable = can("listRunnerPools");
  const list = useList(isReadable ? "/v1/orgs/{org_id}/runner-pools" : undefined, { path }, "on");
  const mayCreate = can("createRunnerPool");
  if (!isReadable) {
    return (
      <Page title="Runners">
        <p>Administrators of the organization manage the runners.</p>
      </Page>
    );
  }
  return (
    <ItemList
      Frame={Page}
      title="Runners"
      label="Runner pools"
      list={list}
      buttons={[
        mayCreate && {
          verb: "Create a pool",
          kind: "primary",
          inPalette: "Create a runner pool",
          dialog: EditPool,
        },
      ]}
      row={(pool) => (
        <PoolRow pool={pool} hasRunners={(list.items ?? []).indexOf(pool) < MOST_WITH_RUNNERS} />
      )}
      empty="There are no pools. Runners, which execute deployments, belong to a pool."
      command={mayCreate && `${RUN_CLI} pools create main -p shop -e production`}
    />
  );
}

interface PoolRowProps {
  pool: Schemas["RunnerPool"];
  hasRunners: boolean;
}

function PoolRow({ pool, hasRunners }: PoolRowProps) {
  const { id, org_id, name, environment_ids } = pool;
  const runners = useList(
    hasRunners ? "/v1/orgs/{org_id}/runner-pools/{pool_id}/runners" : undefined,
    { path: { org_id, pool_id: id } },
    "on",
  );
  return (
    <div class="list-item">
      <span>
        <a href={`${ROOT}runners/${id}`}>{showHidden(name)}</a>{" "}
        <span class="soft small">{formatCount(environment_ids.length, "environment")}</span>
      </span>
      {runners.items && <RunnerStates runners={runners.items} />}
    </div>
  );
}

/** How many runners do what, who is busy with which deployment, and when one was last seen. */
function RunnerStates({ runners }: { runners: readonly Schemas["RunnerPoolRunner"][] }) {
  if (runners.length === 0) return <Status of="offline" />;
  const states = [...new Set(runners.map(({ state }) => state))].toSorted();
  const [seen] = runners
    .map(({ last_seen_at }) => last_seen_at)
    .toSorted()
    .toReversed();
  return (
    <span class="row">
      {states.map((state) => (
        <span key={state} class="row">
          {runners.filter((each) => each.state === state).length} <Status of={state} />
        </span>
      ))}
      {runners.flatMap(({ deployment_id: deployment }) =>
        deployment === undefined ? (
          []
        ) : (
          <a key={deployment} href={`${ROOT}deployments/${deployment}`}>
            A deployment
          </a>
        ),
      )}
      <span class="soft small">
        <TimeAfter words="seen" at={seen} />
      </span>
    </span>
  );
}
