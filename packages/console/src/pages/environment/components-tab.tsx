import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { SelectField, TextField } from "../../components/form.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { humanize, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import type { EnvironmentTabProps } from "../tabs.ts";

const COMPONENT = "/v1/components/{component_id}" as const;

const KINDS = (["service", "worker", "job", "site"] as const).map(
  (kind) => [kind, humanize(kind)] as const,
);

export function ComponentsTab({ environment, can }: EnvironmentTabProps) {
  const path = { environment_id: environment.id };
  const list = useList("/v1/environments/{environment_id}/components", { path });
  const mayCreate = can("createComponent");
  return (
    <ItemList
      title="Components"
      list={list}
      buttons={[
        mayCreate && {
          verb: "Create a component",
          inPalette: "Create a component",
          dialog: (props) => <EditComponent path={path} {...props} />,
        },
      ]}
      row={({ id, name, kind }, buttons) => (
        <div class="list-item">
          <span>
            <bdi>{showHidden(name)}</bdi> <span class="soft small">{kind}</span>
          </span>
          <span class="row">
            <a href={`${ROOT}components/${id}/variables`}>
              Variables<span class="visually-hidden"> of {name}</span>
            </a>
            {buttons}
          </span>
        </div>
      )}
      itemButtons={(component) => [
        can("updateComponent") && {
          verb: "Edit",
          label: `Edit ${component.name}`,
          dialog: (props) => <EditComponent component={component} path={path} {...props} />,
        },
        can("deleteComponent") && {
          verb: "Delete",
          label: `Delete ${component.name}`,
          confirm: {
            typed: component.name,
            done: "Component deleted.",
            text: "Its variables are deleted with it.",
            work: () => client.delete(COMPONENT, { path: { component_id: component.id } }),
          },
        },
      ]}
      empty="There are no components."
      command={mayCreate && `${RUN_CLI} components create web --kind service -e ${environment.id}`}
    />
  );
}

interface EditComponentProps extends OpenDialogProps {
  /** Absent: creates one. */
  component?: Schemas["Component"];
  path: { environment_id: string };
}

function EditComponent({ component, path, ...dialog }: EditComponentProps) {
  return (
    <FormDialog
      {...dialog}
      title={component ? `Edit ${showHidden(component.name)}` : "Create a component"}
      verb={component ? "Save" : "Create"}
      done={component ? "Saved." : "Component created."}
      submit={(fields) => {
        const kind = fields.text("kind") as Schemas["ComponentKind"];
        const body = { name: fields.text("name"), kind };
        return component
          ? client.patch(COMPONENT, { path: { component_id: component.id }, body })
          : client.post("/v1/environments/{environment_id}/components", { path, body });
      }}
    >
      {(error) => (
        <>
          <TextField name="name" label="Name" value={component?.name} required error={error} />
          <SelectField name="kind" label="Kind" options={KINDS} value={component?.kind} />
        </>
      )}
    </FormDialog>
  );
}
