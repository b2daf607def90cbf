import type { ComponentChildren } from "preact";
import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { inOrder } from "../../../../cli/src/in-order.ts";
import { can as canInOrganization } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { Choices, type FormFields, TextField } from "../../components/form.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { Status } from "../../components/status.tsx";
import { formatExact, joinNames, showHidden } from "../../format.ts";
import { type List, useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import type { OrganizationTabProps, ProjectTabProps } from "../tabs.ts";
import { stateOf } from "./freezes.ts";
import { useMembers } from "./members.ts";

type Freeze = Schemas["Freeze"];

const OF_ORGANIZATION = "/v1/orgs/{org_id}/freezes" as const;
const OF_PROJECT = "/v1/projects/{project_id}/freezes" as const;
const ENVIRONMENTS = "/v1/projects/{project_id}/environments" as const;

export function OrganizationFreezesTab({ path }: OrganizationTabProps) {
  return (
    <Freezes
      list={useList(OF_ORGANIZATION, { path }, "on")}
      mayChange={canInOrganization("createFreeze")}
      create={(body) => client.post(OF_ORGANIZATION, { path, body })}
      scope="During a freeze, no new deployments start in any project. Running ones continue."
      command="--organization"
    />
  );
}

export function ProjectFreezesTab({ project, can }: ProjectTabProps) {
  const path = { project_id: project.id };
  return (
    <Freezes
      list={useList(OF_PROJECT, { path }, "on")}
      mayChange={can("createProjectFreeze")}
      create={(body) => client.post(OF_PROJECT, { path, body })}
      projectId={project.id}
      scope={
        <>
          During a freeze, no new deployments start. Running ones continue.{" "}
          <a href={`${ROOT}organization/freezes`}>Organization-wide freezes</a> also apply.
        </>
      }
      command={`-p ${project.id}`}
    />
  );
}

interface FreezesProps {
  list: List<Freeze>;
  mayChange: boolean;
  create: (body: Schemas["CreateFreeze"]) => Promise<unknown>;
  /** Absent: of all projects. */
  projectId?: string;
  scope: ComponentChildren;
  /** The options that name the owner. */
  command: string;
}

function Freezes({ list, mayChange, create, projectId, scope, command }: FreezesProps) {
  const environments = useList(projectId === undefined ? undefined : ENVIRONMENTS, {
    path: { project_id: projectId ?? "" },
  });
  const nameOf = (id: string) => environments.items?.find((each) => each.id === id)?.name ?? id;
  return (
    <ItemList
      title="Freezes"
      list={list}
      buttons={[
        mayChange && {
          verb: "Create a freeze",
          inPalette: "Create a freeze",
          dialog: (props) => (
            <CreateFreeze
              {...props}
              create={create}
              projectId={projectId}
              environments={environments.items ?? []}
            />
          ),
        },
      ]}
      row={(freeze, buttons) => (
        <div class="list-item">
          <span>
            <bdi>{showHidden(freeze.name)}</bdi>
            <p class="soft small">
              <bdi>{showHidden(freeze.reason)}</bdi>
              <br />
              {formatExact(freeze.starts_at)} to {formatExact(freeze.ends_at)}
              {freeze.environment_ids && (
                <> · {joinNames(freeze.environment_ids.map(nameOf), ", ")}</>
              )}
            </p>
          </span>
          <span class="row">
            <Status of={stateOf(freeze)} />
            {buttons}
          </span>
        </div>
      )}
      itemButtons={({ id, name }) => [
        mayChange && {
          verb: "Delete",
          label: `Delete ${name}`,
          confirm: {
            done: "Freeze deleted.",
            text: "Deployments that waited for its end start within a minute.",
            work: () => client.delete("/v1/freezes/{freeze_id}", { path: { freeze_id: id } }),
          },
        },
      ]}
      empty="There are no freezes."
      command={
        mayChange &&
        `${RUN_CLI} freeze Holidays --reason 'Nobody is there' --until 2027-01-03 ${command}`
      }
    >
      <p class="soft">{scope}</p>
    </ItemList>
  );
}

interface CreateFreezeProps extends OpenDialogProps {
  create: FreezesProps["create"];
  projectId: string | undefined;
  environments: readonly Schemas["Environment"][];
}

function CreateFreeze({ create, projectId, environments, ...dialog }: CreateFreezeProps) {
  const members = useMembers(projectId);
  const people = members.data?.filter(({ kind }) => kind === "person") ?? [];
  return (
    <FormDialog
      {...dialog}
      title="Create a freeze"
      verb="Create"
      done="Freeze created."
      submit={async (fields) => create(readFreeze(fields))}
    >
      {(error) => (
        <>
          <TextField name="name" label="Name" required error={error} />
          <TextField
            name="reason"
            label="Reason"
            hint="Shown on deployments that wait"
            required
            error={error}
          />
          <TextField
            name="starts_at"
            type="datetime-local"
            label="From (empty: now)"
            error={error}
          />
          <TextField
            name="ends_at"
            type="datetime-local"
            label="Until"
            hint="On the clock of this browser"
            required
            error={error}
          />
          <Choices
            name="environment_ids"
            legend="Environments (none: all)"
            options={inOrder(environments).map(({ id, name }) => [id, showHidden(name)])}
          />
          <Choices
            name="override"
            legend="Who may override it, besides organization owners"
            options={people.map(({ id, name }) => [id, name])}
          />
        </>
      )}
    </FormDialog>
  );
}

function readFreeze(fields: FormFields): Schemas["CreateFreeze"] {
  const toTime = (text: string | undefined) =>
    (text === undefined ? new Date() : new Date(text)).toISOString();
  const environmentIds = fields.all("environment_ids");
  return {
    name: fields.text("name"),
    reason: fields.text("reason"),
    starts_at: toTime(fields.optional("starts_at")),
    ends_at: toTime(fields.text("ends_at")),
    override: fields.all("override"),
    ...(environmentIds.length > 0 && { environment_ids: environmentIds }),
  };
}
