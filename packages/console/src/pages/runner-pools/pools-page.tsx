import { useState } from "preact/hooks";
import { can } from "../../access.ts";
import { useCommands } from "../../commands.ts";
import { Button } from "../../components/button.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Page } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { EditPool } from "./edit-pool.tsx";

export function RunnerPoolsPage() {
  const path = { org_id: currentWho().organization.id };
  const isReadable = can("listRunnerPools");
  const list = useList(isReadable ? "/v1/orgs/{org_id}/runner-pools" : undefined, { path }, "on");
  const [isCreating, setCreating] = useState(false);
  const mayCreate = can("createRunnerPool");
  const create = () => setCreating(true);
  useCommands(mayCreate ? [["Create a runner pool", create]] : []);
  return (
    <Page
      title="Runners"
      actions={
        mayCreate && (
          <Button kind="primary" onClick={create}>
            Create a pool
          </Button>
        )
      }
    >
      {isReadable ? (
        <RecordList
          list={list}
          label="Runner pools"
          keyOf={({ id }) => id}
          render={({ id, name, environment_ids, created_at }) => (
            <div class="list-item">
              <a href={`${ROOT}runners/${id}`}>{showHidden(name)}</a>
              <span class="row soft">
                {environment_ids.length === 1
                  ? "1 environment"
                  : `${environment_ids.length} environments`}
                <Time at={created_at} />
              </span>
            </div>
          )}
          empty={
            <Empty
              title="There are no pools. Runners, which execute deployments, belong to a pool."
              next={
                mayCreate && {
                  text: "Create one here, or with the command line:",
                  command: `npx longshore api POST /v1/orgs/${path.org_id}/runner-pools name=main environment_ids:='["ENVIRONMENT_ID"]'`,
                }
              }
            />
          }
        />
      ) : (
        <p>Administrators of the organization manage the runners.</p>
      )}
      {isCreating && (
        <EditPool pool={undefined} onClose={() => setCreating(false)} reload={list.reload} />
      )}
    </Page>
  );
}
