import { useState } from "preact/hooks";
import { client, type Schemas } from "../../api.ts";
import { useCommands } from "../../commands.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, Dialog } from "../../components/dialog.tsx";
import { Form, SelectField, TextField } from "../../components/form.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { humanize, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import type { EnvironmentTabProps } from "./environment-page.tsx";

type Component = Schemas["Component"];

const KINDS = (["service", "worker", "job", "site"] as const).map(
  (kind) => [kind, humanize(kind)] as const,
);

/** The record of an open dialog; null to create one. */
type Edited = Component | null | undefined;

export function ComponentsTab({ environment, can }: EnvironmentTabProps) {
  const path = { environment_id: environment.id };
  const list = useList("/v1/environments/{environment_id}/components", { path });
  const [edited, setEdited] = useState<Edited>();
  const [deleted, setDeleted] = useState<Component>();
  const mayCreate = can("createComponent");
  useCommands(mayCreate ? [["Create a component", () => setEdited(null)]] : []);
  return (
    <Section
      title="Components"
      actions={mayCreate && <Button onClick={() => setEdited(null)}>Create a component</Button>}
    >
      <RecordList
        list={list}
        label="Components"
        keyOf={({ id }) => id}
        render={(component) => (
          <div class="list-item">
            <span>
              {showHidden(component.name)} <span class="soft small">{component.kind}</span>
            </span>
            <span class="row">
              <a href={`${ROOT}components/${component.id}/variables`}>
                Variables<span class="visually-hidden"> of {component.name}</span>
              </a>
              {can("updateComponent") && (
                <Button
                  kind="small"
                  label={`Edit ${component.name}`}
                  onClick={() => setEdited(component)}
                >
                  Edit
                </Button>
              )}
              {can("deleteComponent") && (
                <Button
                  kind="small"
                  label={`Delete ${component.name}`}
                  onClick={() => setDeleted(component)}
                >
                  Delete
                </Button>
              )}
            </span>
          </div>
        )}
        empty={
          <Empty
            title="There are no components."
            next={
              mayCreate && {
                text: "Create one here, or with the command line:",
                command: `npx longshore components create web --kind service -e ${environment.id}`,
              }
            }
          />
        }
      />
      {edited !== undefined && (
        <EditComponent
          component={edited}
          environmentId={environment.id}
          onClose={() => setEdited(undefined)}
          reload={list.reload}
        />
      )}
      {deleted && (
        <Confirm
          title={`Delete ${showHidden(deleted.name)}`}
          verb="Delete"
          typed={deleted.name}
          done="Component deleted."
          onClose={() => setDeleted(undefined)}
          work={async () => {
            const { id } = deleted;
            await client.delete("/v1/components/{component_id}", { path: { component_id: id } });
            await list.reload();
          }}
        >
          <p>Its variables are deleted with it.</p>
        </Confirm>
      )}
    </Section>
  );
}

interface EditComponentProps {
  component: Component | null;
  environmentId: string;
  onClose: () => void;
  reload: () => Promise<void>;
}

function EditComponent({ component, environmentId, onClose, reload }: EditComponentProps) {
  const save = async (body: Schemas["ComponentInput"]) => {
    if (component) {
      await client.patch("/v1/components/{component_id}", {
        path: { component_id: component.id },
        body,
      });
    } else {
      const path = { environment_id: environmentId };
      await client.post("/v1/environments/{environment_id}/components", { path, body });
    }
    await reload();
  };
  return (
    <Dialog
      title={component ? `Edit ${showHidden(component.name)}` : "Create a component"}
      onClose={onClose}
    >
      <Form
        verb={component ? "Save" : "Create"}
        done={component ? "Saved." : "Component created."}
        onCancel={onClose}
        onDone={onClose}
        submit={(fields) =>
          save({
            name: fields.text("name"),
            kind: fields.text("kind") as Schemas["ComponentKind"],
          })
        }
      >
        {(error) => (
          <>
            <TextField name="name" label="Name" value={component?.name} required error={error} />
            <SelectField name="kind" label="Kind" options={KINDS} value={component?.kind} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
