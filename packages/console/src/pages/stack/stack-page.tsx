import { type Can, useCan } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { PageButtons } from "../../components/dialog-buttons.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { OutputUrl } from "../../components/output-url.tsx";
import { Page, PendingPage, Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList, useQuery } from "../../query.ts";
import { navigate, type Params, ROOT } from "../../router.ts";
import { useEnvironmentCrumbs } from "../crumbs.ts";
import { DeploymentRow } from "../environment/deployments-tab.tsx";
import { EditStack } from "./edit-stack.tsx";

export function StackPage({ params }: { params: Params }) {
  const path = { stack_id: params["stack_id"] ?? "" };
  const { data: stack, error, reload } = useQuery("/v1/stacks/{stack_id}", { path }, "on");
  const { crumbs } = useEnvironmentCrumbs(stack?.environment_id);
  const can = useCan(stack?.project_id);
  if (!stack) return <PendingPage title="Stack" error={error} />;
  const environmentPath = `${ROOT}environments/${stack.environment_id}`;
  return (
    <Page
      title={stack.name}
      crumbs={[...crumbs, ["Stacks", `${environmentPath}/stacks`]]}
      actions={
        <StackButtons
          stack={stack}
          can={can}
          reload={reload}
          leave={() => navigate(`${environmentPath}/stacks`)}
        />
      }
    >
      <div class="stack loose">
        {stack.outputs && (
          <Section title="Outputs">
            <OutputTable outputs={stack.outputs} />
          </Section>
        )}
        <Alarms path={path} />
        {can("listStackResources") && <Resources path={path} />}
        {can("listStackDeployments") && <Deployments path={path} />}
      </div>
    </Page>
  );
}

interface StackButtonsProps {
  stack: Schemas["Stack"];
  can: Can;
  reload: () => Promise<void>;
  /** Shows the other stacks. */
  leave: () => void;
}

function StackButtons({ stack, can, reload, leave }: StackButtonsProps) {
  const { id, name, environment_id } = stack;
  return (
    <PageButtons
      reload={reload}
      buttons={[
        can("updateStack") && {
          verb: "Edit",
          dialog: (props) => <EditStack stack={stack} environmentId={environment_id} {...props} />,
        },
        can("deleteStack") && {
          verb: "Delete",
          kind: "danger",
          confirm: {
            title: `Delete ${showHidden(name)}`,
            typed: name,
            done: "Stack deleted.",
            text: "Its resources and alarms are deleted from Longshore, not from the cloud.",
            work: () => client.delete("/v1/stacks/{stack_id}", { path: { stack_id: id } }),
            leave,
          },
        },
      ]}
    />
  );
}

interface OutputTableProps {
  outputs: Readonly<Record<string, string>>;
}

/** The URL as a link, and the others with their names. */
export function OutputTable({ outputs: { url, ...others } }: OutputTableProps) {
  const rows = Object.entries(others);
  return (
    <>
      {url !== undefined && (
        <p>
          <OutputUrl url={url} />
        </p>
      )}
      {rows.length > 0 && (
        <table class="fixed">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{showHidden(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

type StackPath = { stack_id: string };

function Alarms({ path }: { path: StackPath }) {
  const list = useList("/v1/stacks/{stack_id}/alarms", { path }, "on");
  return (
    <ItemList
      title="Alarms"
      list={list}
      row={({ name, state, reason, changed_at }) => (
        <div class="list-item">
          <span>
            <bdi>{showHidden(name)}</bdi> {reason && <span class="soft">{showHidden(reason)}</span>}
          </span>
          <span class="row">
            <Status of={state} />
            <Time at={changed_at} />
          </span>
        </div>
      )}
      empty="No alarm was reported."
    />
  );
}

function Resources({ path }: { path: StackPath }) {
  const list = useList("/v1/stacks/{stack_id}/resources", { path }, "on");
  return (
    <ItemList
      title="Resources"
      list={list}
      row={(resource) => <ResourceRow resource={resource} />}
      empty="Deployments report the resources of a stack. None has yet."
    />
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
    <ItemList
      title="Deployments"
      list={list}
      row={(deployment) => <DeploymentRow deployment={deployment} />}
      empty="No deployment has this stack."
    />
  );
}
