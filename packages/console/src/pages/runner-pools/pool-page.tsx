import { useState } from "preact/hooks";
import { can } from "../../access.ts";
import { client } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Facts, Page, PendingPage, Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { formatDuration, showHidden } from "../../format.ts";
import { useList, useQuery } from "../../query.ts";
import { navigate, type Params, ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { EditPool } from "./edit-pool.tsx";
import { RunnerTokens } from "./runner-tokens.tsx";

export type PoolPath = { org_id: string; pool_id: string };

export function RunnerPoolPage({ params }: { params: Params }) {
  const path = { org_id: currentWho().organization.id, pool_id: params["pool_id"] ?? "" };
  const pool = useQuery("/v1/orgs/{org_id}/runner-pools/{pool_id}", { path });
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const { data } = pool;
  if (!data) return <PendingPage title="Runner pool" error={pool.error} />;
  const close = () => setDialog(undefined);
  return (
    <Page
      title={data.name}
      crumbs={[["Runners", `${ROOT}runners`]]}
      actions={
        <>
          {can("updateRunnerPool") && <Button onClick={() => setDialog("edit")}>Edit</Button>}
          {can("deleteRunnerPool") && (
            <Button kind="danger" onClick={() => setDialog("delete")}>
              Delete
            </Button>
          )}
        </>
      }
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
        <Attempts path={path} />
        <RunnerTokens path={path} />
      </div>
      {dialog === "edit" && <EditPool pool={data} onClose={close} reload={pool.reload} />}
      {dialog === "delete" && (
        <Confirm
          title={`Delete ${showHidden(data.name)}`}
          verb="Delete"
          typed={data.name}
          done="Runner pool deleted."
          onClose={close}
          work={async () => {
            await client.delete("/v1/orgs/{org_id}/runner-pools/{pool_id}", { path });
            navigate(`${ROOT}runners`);
          }}
        >
          <p>
            Its tokens stop working at once. Deployments of its environments wait for another pool.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function Attempts({ path }: { path: PoolPath }) {
  const list = useList("/v1/orgs/{org_id}/runner-pools/{pool_id}/attempts", { path }, "live");
  return (
    <Section title="Live attempts">
      <RecordList
        list={list}
        label="Live attempts"
        keyOf={({ id }) => id}
        render={({ deployment_id, state, token, created_at, started_at, last_heartbeat_at }) => (
          <div class="list-item">
            <span>
              <a href={`${ROOT}deployments/${deployment_id}`}>Deployment {deployment_id}</a>
              {token && <span class="soft"> with {showHidden(token.name)}</span>}
            </span>
            <span class="row">
              <Status of={state} />
              <span class="soft small">
                {started_at ? "started" : "offered"} <Time at={started_at ?? created_at} />
                {last_heartbeat_at && (
                  <>
                    , last heartbeat <Time at={last_heartbeat_at} />
                  </>
                )}
              </span>
            </span>
          </div>
        )}
        empty={<Empty title="No runner of this pool executes a deployment at the moment." />}
      />
    </Section>
  );
}
