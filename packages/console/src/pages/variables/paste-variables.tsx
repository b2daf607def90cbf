import { useState } from "preact/hooks";
import { parseDotenv } from "../../../../cli/src/variables/parse-dotenv.ts";
import { type PushPlan, planPush } from "../../../../cli/src/variables/push-plan.ts";
import type { Can } from "../../access.ts";
import { useAction } from "../../action.ts";
import type { Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Check, Field } from "../../components/form.tsx";
import { formatCount, showHidden } from "../../format.ts";
import { putVariables, revealVariables, type VariableScope } from "./scope.ts";
import { SensitiveField } from "./sensitive-field.tsx";

interface PasteVariablesProps extends OpenDialogProps {
  scope: VariableScope;
  can: Can;
}

/** Writes a whole .env file, after a preview of what it adds, changes and removes. */
export function PasteVariables({ scope, can, onClose, reload }: PasteVariablesProps) {
  const [input, setInput] = useState<Input>({ text: "", method: "secret" });
  const [plan, setPlan] = useState<PushPlan>();
  const [isRemoving, setRemoving] = useState(false);
  if (!can("revealEnvironmentVariables")) {
    return (
      <Dialog title="Paste a .env file" onClose={onClose}>
        <p>The preview compares values, which you may not read. Add the variables one by one.</p>
        <Button onClick={onClose}>Close</Button>
      </Dialog>
    );
  }
  const preview = async () => {
    const file = parseDotenv(input.text, "The text");
    if (file.size === 0) throw new Error("The text has no variables. Write NAME=value lines.");
    setPlan(planPush(file, (await revealVariables(scope)).data, input.method));
  };
  const write = async () => {
    if (!plan) return;
    const kept = isRemoving ? plan.unchanged : [];
    await putVariables(scope, {
      mode: isRemoving ? "replace" : "merge",
      variables: [...plan.added, ...plan.changed, ...kept],
    });
    await reload();
  };
  return (
    <Dialog title="Paste a .env file" onClose={onClose}>
      {plan ? (
        <Preview
          plan={plan}
          isRemoving={isRemoving}
          setRemoving={setRemoving}
          write={write}
          onBack={() => setPlan(undefined)}
          onClose={onClose}
        />
      ) : (
        <Paste input={input} setInput={setInput} preview={preview} onClose={onClose} />
      )}
    </Dialog>
  );
}

/** It stays when the person returns from the preview. */
interface Input {
  text: string;
  method: Schemas["StorageMethod"];
}

interface PasteProps {
  input: Input;
  setInput: (input: Input) => void;
  preview: () => Promise<void>;
  onClose: () => void;
}

function Paste({ input, setInput, preview, onClose }: PasteProps) {
  const action = useAction();
  const submit = (event: Event) => {
    event.preventDefault();
    void action.run(preview);
  };
  return (
    <form class="stack" onSubmit={submit}>
      <Field label="Contents of the file">
        {(props) => (
          <textarea
            {...props}
            class="input"
            spellcheck={false}
            autocomplete="off"
            value={input.text}
            onInput={(event) => setInput({ ...input, text: event.currentTarget.value })}
          />
        )}
      </Field>
      <SensitiveField
        label="New variables are sensitive"
        method={input.method}
        setMethod={(method) => setInput({ ...input, method })}
      />
      <p class="soft small">The preview reads the present values, which the audit log records.</p>
      <ErrorNote error={action.error} />
      <div class="row">
        <Button type="submit" kind="primary" isBusy={action.isRunning}>
          Preview
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}

function isEmpty({ plan: { added, changed, missing }, isRemoving }: ChangesProps): boolean {
  return added.length + changed.length === 0 && !(isRemoving && missing.length > 0);
}

interface PreviewProps extends ChangesProps {
  write: () => Promise<void>;
  onBack: () => void;
  onClose: () => void;
}

function Preview({ write, onBack, onClose, ...changes }: PreviewProps) {
  const action = useAction();
  const submit = async () => {
    if (await action.run(write, "Variables written.")) onClose();
  };
  return (
    <>
      <Changes {...changes} />
      <ErrorNote error={action.error} />
      <div class="row">
        <Button kind="primary" isBusy={action.isRunning || isEmpty(changes)} onClick={submit}>
          Write the variables
        </Button>
        <Button onClick={onBack}>Edit the text</Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </>
  );
}

interface ChangesProps {
  plan: PushPlan;
  isRemoving: boolean;
  setRemoving: (isRemoving: boolean) => void;
}

function Changes({ plan, isRemoving, setRemoving }: ChangesProps) {
  const lines = [
    ...plan.added.map(({ name }) => ["+", "Added", "added", name] as const),
    ...plan.changed.map(({ name }) => ["~", "Changed", "", name] as const),
    ...(isRemoving ? plan.missing : []).map((name) => ["-", "Removed", "removed", name] as const),
  ];
  return (
    <div class="stack">
      <p>
        {plan.added.length} added, {plan.changed.length} changed,{" "}
        {isRemoving ? plan.missing.length : 0} removed, {plan.unchanged.length} unchanged
      </p>
      {plan.missing.length > 0 && (
        <Check
          name="remove"
          checked={isRemoving}
          onChange={setRemoving}
          label={`Remove ${formatCount(plan.missing.length, "variable")} that the text does not have`}
        />
      )}
      {lines.length > 0 && (
        <ul class="diff" aria-label="Changes">
          {lines.map(([sign, meaning, tone, name]) => (
            <li key={name} class={tone}>
              <span aria-hidden="true">{sign}</span>
              <span class="visually-hidden">{meaning}: </span>
              <span>{showHidden(name)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
