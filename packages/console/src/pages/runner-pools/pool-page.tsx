import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { PageButtons } from "../../components/dialog-buttons.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { Facts, Page, PendingPage } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time, TimeAfter } from "../../components/time.tsx";
import { formatDuration, showHidden } from "../../format.ts";
import { useList, useQuery } from "../../query.ts";
import { navigate, type Params, ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { EditPool } from "./edit-pool.tsx";
import { type PoolPath, RunnerTokens } from "./runner-tokens.tsx";

export function RunnerPoolPage({ params }: { params: Params }) {
  const path = { org_id: currentWho().organization.id, pool_id: params["pool_id"] ?? "" };
  const { data, error, reload } = useQuery("/v1/orgs/{org_id}/runner-pools/{pool_id}", { path });
  if (!data) return <PendingPage title="Runner pool" error={error} />;
  return (
    <Page
      title={data.name}
      crumbs={[["Runners", `${ROOT}runners`]]}
      actions={<PoolButtons pool={data} path={path} reload={reload} />}
    >
      <div class="stack loose">
        <Facts
          facts={[
            ["ID", <code key="id">{data.id}</code>],
            ["Environments", data.environment_ids.length],
            ["Longest run", formatDuration(data.max_run_seconds * 1000)],
            ["Created", <Time key="created" at={data.created_at} />],
          ]}
        />
        <Runners path={path} />
        <Attempts path={path} />
        <RunnerTokens path={path} />
      </div>
    </Page>
  );
}

interface PoolButtonsProps {
  pool: Schemas["RunnerPool"];
  path: PoolPath;
  reload: () => Promise<void>;
}

function PoolButtons({ pool, path, reload }: PoolButtonsProps) {
  return (
    <PageButtons
      reload={reload}
      buttons={[
        can("updateRunnerPool") && {
          verb: "Edit",
          dialog: (props) => <EditPool pool={pool} {...props} />,
        },
        can("deleteRunnerPool") && {
          verb: "Delete",
          kind: "danger",
          confirm: {
            title: `Delete ${showHidden(pool.name)}`,
            typed: pool.name,
            done: "Runner pool deleted.",
            text: "Its tokens stop working at once. Deployments of its environments wait for another pool.",
            work: () => client.delete("/v1/orgs/{org_id}/runner-pools/{pool_id}", { path }),
            leave: () => navigate(`${ROOT}runners`),
          },
        },
      ]}
    />
  );
}

function Runners({ path }: { path: PoolPath }) {
  const list = useList("/v1/orgs/{org_id}/runner-pools/{pool_id}/runners", { path }, "live");
  return (
    <ItemList
      title="Runners online"
      list={list}
      row={({ name, version, token, state, deployment_id, wanted_deployment_id, last_seen_at }) => {
        const deployment = deployment_id ?? wanted_deployment_id;
        return (
          <div class="list-item">
            <span>
              <bdi>{showHidden(name ?? token?.name ?? "Without a name")}</bdi>
              {version && <span class="soft"> {showHidden(version)}</span>}
            </span>
            <span class="row">
              <Status of={state} />
              <span class="soft small">
                {deployment && (
                  <>
                    {deployment_id ? "with" : "waits for"}{" "}
                    <a href={`${ROOT}deployments/${deployment}`}>a deployment</a>,{" "}
                  </>
                )}
                last seen <Time at={last_seen_at} />
              </span>
            </span>
          </div>
        );
      }}
      empty="No runner of this pool has asked for work in the last 5 minutes: its deployments wait."
    />
  );
}

function Attempts({ path }: { path: PoolPath }) {
  const list = useList("/v1/orgs/{org_id}/runner-pools/{pool_id}/attempts", { path }, "live");
  return (
    <ItemList
      title="Live attempts"
      list={list}
      row={({ deployment_id, state, token, created_at, started_at, last_heartbeat_at }) => (
        <div class="list-item">
          <span>
            <a href={`${ROOT}deployments/${deployment_id}`}>Deployment {deployment_id}</a>
            {token && (
              <span class="soft">
                {" "}
                with <bdi>{showHidden(token.name)}</bdi>
              </span>
            )}
          </span>
          <span class="row">
            <Status of={state} />
            <span class="soft small">
              {started_at ? "started" : "offered"} <Time at={started_at ?? created_at} />
              <TimeAfter words=", last heartbeat" at={last_heartbeat_at} />
            </span>
          </span>
        </div>
      )}
      empty="No runner of this pool executes a deployment at the moment."
    />
  );
}
