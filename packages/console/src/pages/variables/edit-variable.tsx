import { client, type Schemas } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form, SelectField, TextField } from "../../components/form.tsx";
import { showHidden } from "../../format.ts";
import { createVariable, type VariableScope } from "./scope.ts";

export const STORAGE_METHODS = [
  ["secret", "Secret: Secrets Manager"],
  ["secure_string", "Secure string: Parameter Store, encrypted"],
  ["string", "String: Parameter Store"],
] as const;

interface EditVariableProps {
  scope: VariableScope;
  /** Undefined: creates one. */
  variable: Schemas["Variable"] | undefined;
  onClose: () => void;
  reload: () => Promise<void>;
}

/** The present value is not read: a new one replaces it. */
export function EditVariable({ scope, variable, onClose, reload }: EditVariableProps) {
  const save = async (body: Schemas["VariableInput"]) => {
    if (variable) {
      await client.put("/v1/variables/{variable_id}", { path: { variable_id: variable.id }, body });
    } else {
      await createVariable(scope, body);
    }
    await reload();
  };
  return (
    <Dialog
      title={variable ? `Edit ${showHidden(variable.name)}` : "Add a variable"}
      onClose={onClose}
    >
      <Form
        verb={variable ? "Save" : "Add"}
        done={variable ? "Saved." : "Variable added."}
        onCancel={onClose}
        onDone={onClose}
        submit={(fields) =>
          save({
            name: fields.text("name"),
            storage_method: fields.text("storage_method") as Schemas["StorageMethod"],
            value: fields.exact("value"),
          })
        }
      >
        {(error) => (
          <>
            <TextField name="name" label="Name" value={variable?.name} required error={error} />
            <Field label={variable ? "New value" : "Value"}>
              {(props) => (
                <textarea
                  {...props}
                  class="input"
                  name="value"
                  spellcheck={false}
                  autocomplete="off"
                />
              )}
            </Field>
            <SelectField
              name="storage_method"
              label="Storage method"
              options={STORAGE_METHODS}
              value={variable?.storage_method}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}
