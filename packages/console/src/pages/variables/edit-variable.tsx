import { useState } from "preact/hooks";
import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { TextAreaField, TextField } from "../../components/form.tsx";
import { showHidden } from "../../format.ts";
import { createVariable, type VariableScope } from "./scope.ts";
import { SensitiveField } from "./sensitive-field.tsx";

interface EditVariableProps extends OpenDialogProps {
  scope: VariableScope;
  /** Absent: creates one. */
  variable?: Schemas["Variable"];
}

/** The present value is not read: a new one replaces it. */
export function EditVariable({ scope, variable, ...dialog }: EditVariableProps) {
  const [method, setMethod] = useState(variable?.storage_method ?? "secret");
  return (
    <FormDialog
      {...dialog}
      title={variable ? `Edit ${showHidden(variable.name)}` : "Add a variable"}
      verb={variable ? "Save" : "Add"}
      done={variable ? "Saved." : "Variable added."}
      submit={(fields) => {
        const body = {
          name: fields.text("name"),
          storage_method: method,
          value: fields.exact("value"),
        };
        if (!variable) return createVariable(scope, body);
        return client.put("/v1/variables/{variable_id}", {
          path: { variable_id: variable.id },
          body,
        });
      }}
    >
      {(error) => (
        <>
          <TextField name="name" label="Name" value={variable?.name} required error={error} />
          <TextAreaField name="value" label={variable ? "New value" : "Value"} />
          <SensitiveField label="Sensitive" method={method} setMethod={setMethod} />
        </>
      )}
    </FormDialog>
  );
}
