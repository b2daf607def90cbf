import { useState } from "preact/hooks";
import { useAction } from "../../action.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { showHidden } from "../../format.ts";

interface RevealVariableProps {
  variable: Schemas["Variable"];
  onClose: () => void;
}

/** The value is in the state of this dialog only, so closing it removes the value. */
export function RevealVariable({ variable, onClose }: RevealVariableProps) {
  const action = useAction();
  const [value, setValue] = useState<string>();
  const reveal = () =>
    action.run(async () => {
      const path = { variable_id: variable.id };
      const read = await client.get("/v1/variables/{variable_id}/value", { path });
      setValue(read.value);
    });
  return (
    <Dialog title={showHidden(variable.name)} onClose={onClose}>
      {value === undefined ? (
        <>
          <p>The audit log records who reads a value, and when.</p>
          <ErrorNote error={action.error} />
        </>
      ) : (
        <div class="command">
          <pre>{value}</pre>
          <CopyButton text={value} what="Value" />
        </div>
      )}
      <div class="row">
        {value === undefined && (
          <Button kind="primary" isBusy={action.isRunning} onClick={reveal}>
            Reveal the value
          </Button>
        )}
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
