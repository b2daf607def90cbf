import { can } from "../../access.ts";
import { ItemList } from "../../components/item-list.tsx";
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
      row={({ id, name, environment_ids, created_at }) => (
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
      empty="There are no pools. Runners, which execute deployments, belong to a pool."
      command={
        mayCreate &&
        `npx @longshore/cli api POST /v1/orgs/${path.org_id}/runner-pools name=main environment_ids:='["ENVIRONMENT_ID"]'`
      }
    />
  );
}
