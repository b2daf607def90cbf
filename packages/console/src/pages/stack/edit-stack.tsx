import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { SelectField, TextField } from "../../components/form.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";

interface EditStackProps extends OpenDialogProps {
  /** Absent: creates one. */
  stack?: Schemas["Stack"];
  environmentId: string;
}

export function EditStack({ stack, environmentId, ...dialog }: EditStackProps) {
  const path = { environment_id: environmentId };
  const components = useList("/v1/environments/{environment_id}/components", { path });
  return (
    <FormDialog
      {...dialog}
      title={stack ? `Edit ${showHidden(stack.name)}` : "Create a stack"}
      verb={stack ? "Save" : "Create"}
      done={stack ? "Saved." : "Stack created."}
      submit={(fields) => {
        const component_id = fields.optional("component_id") ?? null;
        const body = { name: fields.text("name"), component_id };
        return stack
          ? client.patch("/v1/stacks/{stack_id}", { path: { stack_id: stack.id }, body })
          : client.post("/v1/environments/{environment_id}/stacks", { path, body });
      }}
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
    </FormDialog>
  );
}
