import { type ComponentChildren, createContext } from "preact";
import { useContext, useId, useRef } from "preact/hooks";
import { useAction } from "../action.ts";
import { describeProblem } from "../api.ts";
import { Button } from "./button.tsx";
import { ErrorNote, lastPartOf } from "./error-note.tsx";

/** The names of a form's fields that show the issues with them. */
const FieldsWithProblems = createContext(new Set<string>());

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  problem?: string | undefined;
  children: (props: {
    id: string;
    "aria-describedby"?: string;
    "aria-invalid"?: boolean;
  }) => ComponentChildren;
}

/** A label, its control, a hint and the problem with the value. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  const describing = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(describing && { "aria-describedby": describing }),
        ...(problem && { "aria-invalid": true }),
      })}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {problem && (
        <span class="problem" id={`${id}-problem`}>
          {problem}
        </span>
      )}
    </div>
  );
}

interface TextFieldProps {
  name: string;
  label: string;
  hint?: ComponentChildren;
  /** Of the form's action: the issue with this field is shown here. */
  error?: unknown;
  type?: "text" | "password" | "email" | "number" | "url" | "datetime-local";
  value?: string | undefined;
  required?: boolean;
  placeholder?: string;
  onInput?: (value: string) => void;
}

export function TextField({ label, hint, error, value = "", onInput, ...props }: TextFieldProps) {
  useContext(FieldsWithProblems).add(props.name);
  return (
    <Field label={label} hint={hint} problem={problemWith(props.name, error)}>
      {(control) => (
        <input
          class="input"
          autocomplete="off"
          defaultValue={value}
          onInput={(event) => onInput?.(event.currentTarget.value)}
          {...(props as { type?: "text" })}
          {...control}
        />
      )}
    </Field>
  );
}

interface TextAreaProps {
  name: string;
  label: string;
  hint?: string;
  placeholder?: string;
}

export function TextAreaField({ label, hint, ...props }: TextAreaProps) {
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <textarea class="input" autocomplete="off" spellcheck={false} {...props} {...control} />
      )}
    </Field>
  );
}

type Option = readonly [value: string, label: string];

interface OptionsProps {
  options: readonly Option[];
  value: string | undefined;
}

/** The content of a `<select>`. */
export function Options({ options, value }: OptionsProps) {
  return (
    <>
      {options.map(([each, text]) => (
        <option key={each} value={each} selected={each === value}>
          {text}
        </option>
      ))}
    </>
  );
}

interface SelectProps {
  name: string;
  label: string;
  options: readonly Option[];
  value?: string | undefined;
  onChange?: (value: string) => void;
}

export function SelectField({ label, options, value, onChange, name }: SelectProps) {
  return (
    <Field label={label}>
      {(control) => (
        <select
          class="input"
          name={name}
          onChange={(event) => onChange?.(event.currentTarget.value)}
          {...control}
        >
          <Options options={options} value={value} />
        </select>
      )}
    </Field>
  );
}

interface CheckProps {
  name: string;
  label: ComponentChildren;
  value?: string;
  checked?: boolean;
  onChange?: (checked: boolean) => void;
}

export function Check({ name, label, value, checked, onChange }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        name={name}
        {...(value !== undefined && { value })}
        {...(onChange ? { checked: checked ?? false } : { defaultChecked: checked ?? false })}
        onChange={(event) => onChange?.(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

interface ChoicesProps {
  name: string;
  legend: string;
  options: readonly (readonly [value: string, label: ComponentChildren])[];
  chosen?: readonly string[] | undefined;
  /** Said if there is no value to choose. Absent: then there is nothing. */
  none?: string;
}

/** Any number of several values. */
export function Choices({ name, legend, options, chosen = [], none }: ChoicesProps) {
  if (options.length === 0 && none === undefined) return null;
  return (
    <fieldset class="stack">
      <legend>{legend}</legend>
      {options.length === 0 && <p>{none}</p>}
      <div class="checks">
        {options.map(([value, label]) => (
          <Check
            key={value}
            name={name}
            value={value}
            label={label}
            checked={chosen.includes(value)}
          />
        ))}
      </div>
    </fieldset>
  );
}

function problemWith(name: string, error: unknown): string | undefined {
  if (error === undefined) return undefined;
  const issue = describeProblem(error).issues.find(({ path }) => lastPartOf(path) === name);
  return issue?.message;
}

export interface FormProps {
  /** What the button says. */
  verb: string;
  /** Announced when it has worked. */
  done: string;
  submit: (fields: FormFields) => Promise<unknown>;
  /** Reads again what it has changed. */
  reload?: () => Promise<unknown>;
  /** Of a form in a dialog: it has a button to cancel, and closes when it has worked. */
  onClose?: () => void;
  /** Beside its button. */
  beside?: ComponentChildren;
  children: (error: unknown) => ComponentChildren;
}

/** A form whose values are read when it is sent. */
export function Form({ verb, done, submit, reload, onClose, beside, children }: FormProps) {
  const action = useAction();
  const { current: fields } = useRef(new Set<string>());
  const send = async (event: Event) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const values = new FormFields(new FormData(event.currentTarget));
    const change = async () => {
      await submit(values);
      await reload?.();
    };
    if (await action.run(change, done)) onClose?.();
  };
  return (
    <form class="stack" onSubmit={send}>
      <FieldsWithProblems.Provider value={fields}>
        {children(action.error)}
      </FieldsWithProblems.Provider>
      <ErrorNote error={action.error} fields={fields} />
      <div class="row">
        <Button type="submit" kind="primary" isBusy={action.isRunning}>
          {verb}
        </Button>
        {onClose && <Button onClick={onClose}>Cancel</Button>}
        {beside}
      </div>
    </form>
  );
}

export class FormFields {
  readonly #data: FormData;

  constructor(data: FormData) {
    this.#data = data;
  }

  text(name: string): string {
    return String(this.#data.get(name) ?? "").trim();
  }

  /** Without trimming, for secrets. */
  exact(name: string): string {
    return String(this.#data.get(name) ?? "");
  }

  /** Undefined if it is empty. */
  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  all(name: string): string[] {
    return this.#data.getAll(name).map(String);
  }

  isChecked(name: string): boolean {
    return this.#data.has(name);
  }
}
