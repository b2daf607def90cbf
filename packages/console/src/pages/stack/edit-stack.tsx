import { client, type Schemas } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Form, SelectField, TextField } from "../../components/form.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";

interface EditStackProps {
  /** Undefined: creates one. */
  stack: Schemas["Stack"] | undefined;
  environmentId: string;
  onClose: () => void;
  reload: () => Promise<void>;
}

export function EditStack({ stack, environmentId, onClose, reload }: EditStackProps) {
  const path = { environment_id: environmentId };
  const components = useList("/v1/environments/{environment_id}/components", { path });
  const save = async (body: Schemas["StackInput"]) => {
    if (stack) {
      await client.patch("/v1/stacks/{stack_id}", { path: { stack_id: stack.id }, body });
    } else {
      await client.post("/v1/environments/{environment_id}/stacks", { path, body });
    }
    await reload();
  };
  return (
    <Dialog title={stack ? `Edit ${showHidden(stack.name)}` : "Create a stack"} onClose={onClose}>
      <Form
        verb={stack ? "Save" : "Create"}
        done={stack ? "Saved." : "Stack created."}
        onCancel={onClose}
        onDone={onClose}
        submit={(fields) =>
          save({
            name: fields.text("name"),
            component_id: fields.optional("component_id") ?? null,
          })
        }
      >
        {(error) => (
          <>
            <TextField name="name" label="Name" value={stack?.name} required error={error} />
            {components.items && (
              <SelectField
                name="component_id"
                label="Component"
                value={stack?.component_id}
                options={[
                  ["", "None"],
                  ...components.items.map(({ id, name }) => [id, showHidden(name)] as const),
                ]}
              />
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}
