import { useState } from "preact/hooks";
import { useCan } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Page, PendingPage, Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList, useQuery } from "../../query.ts";
import { navigate, type Params, ROOT } from "../../router.ts";
import { DeploymentRow } from "../environment/deployments-tab.tsx";
import { EditStack } from "./edit-stack.tsx";

export function StackPage({ params }: { params: Params }) {
  const path = { stack_id: params["stack_id"] ?? "" };
  const { data: stack, error, reload } = useQuery("/v1/stacks/{stack_id}", { path });
  const environment = useQuery(stack && "/v1/environments/{environment_id}", {
    path: { environment_id: stack?.environment_id ?? "" },
  });
  const can = useCan(stack?.project_id);
  const [dialog, setDialog] = useState<"edit" | "delete">();
  if (!stack) return <PendingPage title="Stack" error={error} />;
  const environmentPath = `${ROOT}environments/${stack.environment_id}`;
  const close = () => setDialog(undefined);
  return (
    <Page
      title={stack.name}
      crumbs={[
        ["Projects", ROOT],
        [environment.data?.name ?? "Environment", environmentPath],
        ["Stacks", `${environmentPath}/stacks`],
      ]}
      actions={
        <>
          {can("updateStack") && <Button onClick={() => setDialog("edit")}>Edit</Button>}
          {can("deleteStack") && (
            <Button kind="danger" onClick={() => setDialog("delete")}>
              Delete
            </Button>
          )}
        </>
      }
    >
      <div class="stack loose">
        <Alarms path={path} />
        {can("listStackResources") && <Resources path={path} />}
        {can("listStackDeployments") && <Deployments path={path} />}
      </div>
      {dialog === "edit" && (
        <EditStack
          stack={stack}
          environmentId={stack.environment_id}
          onClose={close}
          reload={reload}
        />
      )}
      {dialog === "delete" && (
        <Confirm
          title={`Delete ${showHidden(stack.name)}`}
          verb="Delete"
          typed={stack.name}
          done="Stack deleted."
          onClose={close}
          work={async () => {
            await client.delete("/v1/stacks/{stack_id}", { path });
            navigate(`${environmentPath}/stacks`);
          }}
        >
          <p>Its resources and alarms are deleted from Longshore, not from the cloud.</p>
        </Confirm>
      )}
    </Page>
  );
}

type StackPath = { stack_id: string };

function Alarms({ path }: { path: StackPath }) {
  const list = useList("/v1/stacks/{stack_id}/alarms", { path }, "on");
  return (
    <Section title="Alarms">
      <RecordList
        list={list}
        label="Alarms"
        keyOf={({ name }) => name}
        render={({ name, state, reason, changed_at }) => (
          <div class="list-item">
            <span>
              {showHidden(name)} {reason && <span class="soft">{showHidden(reason)}</span>}
            </span>
            <span class="row">
              <Status of={state} />
              <Time at={changed_at} />
            </span>
          </div>
        )}
        empty={<Empty title="No alarm was reported." />}
      />
    </Section>
  );
}

function Resources({ path }: { path: StackPath }) {
  const list = useList("/v1/stacks/{stack_id}/resources", { path }, "on");
  return (
    <Section title="Resources">
      <RecordList
        list={list}
        label="Resources"
        keyOf={({ id }) => id}
        render={(resource) => <ResourceRow resource={resource} />}
        empty={<Empty title="Deployments report the resources of a stack. None has yet." />}
      />
    </Section>
  );
}

function ResourceRow({ resource }: { resource: Schemas["Resource"] }) {
  const { template_id, physical_id, resource_type, status, status_reason, timestamp } = resource;
  return (
    <div class="list-item">
      <span>
        <strong>{showHidden(template_id)}</strong>{" "}
        <span class="soft small">{showHidden(resource_type)}</span>
        <br />
        <code>{showHidden(physical_id)}</code>
        {status_reason && <p>{showHidden(status_reason)}</p>}
      </span>
      <span class="row">
        <Status of={status} />
        <Time at={timestamp} />
      </span>
    </div>
  );
}

function Deployments({ path }: { path: StackPath }) {
  const list = useList("/v1/stacks/{stack_id}/deployments", { path, query: { limit: 10 } }, "on");
  return (
    <Section title="Deployments">
      <RecordList
        list={list}
        label="Deployments"
        keyOf={({ id }) => id}
        render={(deployment) => <DeploymentRow deployment={deployment} />}
        empty={<Empty title="No deployment has this stack." />}
      />
    </Section>
  );
}
