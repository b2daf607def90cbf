import { useState } from "preact/hooks";
import { parseDotenv } from "../../../../cli/src/variables/parse-dotenv.ts";
import { type PushPlan, planPush } from "../../../../cli/src/variables/push-plan.ts";
import type { Can } from "../../access.ts";
import { useAction } from "../../action.ts";
import type { Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Check, Field, SelectField } from "../../components/form.tsx";
import { showHidden } from "../../format.ts";
import { STORAGE_METHODS } from "./edit-variable.tsx";
import { putVariables, revealVariables, type VariableScope } from "./scope.ts";

interface PasteVariablesProps {
  scope: VariableScope;
  can: Can;
  onClose: () => void;
  reload: () => Promise<void>;
}

/** Writes a whole .env file, after a preview of what it adds, changes and removes. */
export function PasteVariables({ scope, can, onClose, reload }: PasteVariablesProps) {
  const [text, setText] = useState("");
  const [method, setMethod] = useState<Schemas["StorageMethod"]>("secret");
  const [plan, setPlan] = useState<PushPlan>();
  const [isRemoving, setRemoving] = useState(false);
  const action = useAction();
  const preview = (event: Event) => {
    event.preventDefault();
    void action.run(async () => {
      const file = parseDotenv(text, "The text");
      if (file.size === 0) throw new Error("The text has no variables. Write NAME=value lines.");
      setPlan(planPush(file, (await revealVariables(scope)).data, method));
    });
  };
  const write = () =>
    action.run(async () => {
      if (!plan) return;
      const kept = isRemoving ? plan.unchanged : [];
      await putVariables(scope, {
        mode: isRemoving ? "replace" : "merge",
        variables: [...plan.added, ...plan.changed, ...kept],
      });
      await reload();
      onClose();
    }, "Variables written.");
  if (!can("revealEnvironmentVariables")) {
    return (
      <Dialog title="Paste a .env file" onClose={onClose}>
        <p>The preview compares values, which you may not read. Add the variables one by one.</p>
        <Button onClick={onClose}>Close</Button>
      </Dialog>
    );
  }
  return (
    <Dialog title="Paste a .env file" onClose={onClose}>
      {plan ? (
        <Preview plan={plan} isRemoving={isRemoving} setRemoving={setRemoving} />
      ) : (
        <form class="stack" id="paste" onSubmit={preview}>
          <Field label="Contents of the file">
            {(props) => (
              <textarea
                {...props}
                class="input"
                spellcheck={false}
                autocomplete="off"
                value={text}
                onInput={(event) => setText(event.currentTarget.value)}
              />
            )}
          </Field>
          <SelectField
            name="method"
            label="Storage method of new variables"
            options={STORAGE_METHODS}
            value={method}
            onChange={(value) => setMethod(value as Schemas["StorageMethod"])}
          />
          <p class="soft small">
            The preview reads the present values, which the audit log records.
          </p>
        </form>
      )}
      <ErrorNote error={action.error} />
      <div class="row">
        {plan ? (
          <Button
            kind="primary"
            isBusy={action.isRunning || isEmpty(plan, isRemoving)}
            onClick={write}
          >
            Write the variables
          </Button>
        ) : (
          <PreviewButton isBusy={action.isRunning} />
        )}
        {plan && <Button onClick={() => setPlan(undefined)}>Edit the text</Button>}
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}

function PreviewButton({ isBusy }: { isBusy: boolean }) {
  return (
    <button type="submit" form="paste" class="button primary" aria-disabled={isBusy}>
      Preview
    </button>
  );
}

function isEmpty({ added, changed, missing }: PushPlan, isRemoving: boolean): boolean {
  return added.length + changed.length === 0 && !(isRemoving && missing.length > 0);
}

interface PreviewProps {
  plan: PushPlan;
  isRemoving: boolean;
  setRemoving: (isRemoving: boolean) => void;
}

function Preview({ plan, isRemoving, setRemoving }: PreviewProps) {
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
          label={`Remove the ${plan.missing.length} variables that the text does not have`}
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
