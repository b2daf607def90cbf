import { type ComponentChildren, createContext } from "preact";
import { useContext, useId, useState } from "preact/hooks";
import { describeProblem } from "../../api.ts";
import { Check, Field, Options } from "../../components/form.tsx";
import { toggle, unitOf } from "./rules-form.ts";

export type Option = readonly [value: string, label: string];

/** What the service has refused, by the path of the field. */
const Problems = createContext<ReadonlyMap<string, string>>(new Map());

export function ShowProblems({ of, children }: { of: unknown; children: ComponentChildren }) {
  const issues = of === undefined ? [] : describeProblem(of).issues;
  return (
    <Problems.Provider value={new Map(issues.map(({ path, message }) => [path, message]))}>
      {children}
    </Problems.Provider>
  );
}

interface RuleCardProps {
  title: string;
  hint: string;
  isOn: boolean;
  onSwitch: (isOn: boolean) => void;
  children: ComponentChildren;
}

/** A rule that can be turned on and off. Off, it shows what it is for. */
export function RuleCard({ title, hint, isOn, onSwitch, children }: RuleCardProps) {
  const id = useId();
  return (
    <section class="card stack" aria-labelledby={id}>
      <div class="rule-title">
        <div>
          <h3 id={id}>{title}</h3>
          <p class="soft small">{hint}</p>
        </div>
        <input
          class="switch"
          type="checkbox"
          role="switch"
          aria-labelledby={id}
          checked={isOn}
          aria-checked={isOn}
          onChange={(event) => onSwitch(event.currentTarget.checked)}
        />
      </div>
      {isOn && children}
    </section>
  );
}

interface InputProps {
  label: string;
  hint?: string;
  /** The path of the field in the rules. */
  path: string;
  value: string;
  onInput: (value: string) => void;
  attributes?: Readonly<Record<string, string | boolean>>;
}

export function Input({ label, hint, path, value, onInput, attributes }: InputProps) {
  const problem = useContext(Problems).get(path);
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(control) => (
        <input
          {...control}
          class="input"
          autocomplete="off"
          required
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          {...attributes}
        />
      )}
    </Field>
  );
}

interface SelectProps {
  label: string;
  options: readonly Option[];
  value: string;
  onChange: (value: string) => void;
}

export function Select({ label, options, value, onChange }: SelectProps) {
  return (
    <Field label={label}>
      {(control) => (
        <select
          {...control}
          class="input"
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          <Options options={options} value={value} />
        </select>
      )}
    </Field>
  );
}

interface ManyProps<T extends string> {
  legend: string;
  path: string;
  options: readonly (readonly [value: T, label: string])[];
  chosen: readonly T[];
  onChange: (chosen: T[]) => void;
  isCompact?: boolean;
}

/** Any number of several values. One that is chosen and unknown stays to be seen. */
export function ManyOf<T extends string>({
  legend,
  path,
  options,
  chosen,
  onChange,
  isCompact = false,
}: ManyProps<T>) {
  const problem = useContext(Problems).get(path);
  const order = options.map(([value]) => value);
  const unknown = chosen.filter((value) => !order.includes(value));
  return (
    <fieldset class="field">
      <legend>{legend}</legend>
      <div class={isCompact ? "week" : "checks"}>
        {[...options, ...unknown.map((value) => [value, value] as const)].map(([value, label]) => (
          <Check
            key={value}
            name={path}
            label={label}
            checked={chosen.includes(value)}
            onChange={(isChosen) => onChange(toggle(chosen, value, isChosen, order))}
          />
        ))}
      </div>
      {problem && <p class="problem">{problem}</p>}
    </fieldset>
  );
}

const UNITS = [
  ["86400", "days"],
  ["3600", "hours"],
  ["60", "minutes"],
  ["1", "seconds"],
] as const satisfies readonly Option[];

interface SpanProps {
  label: string;
  path: string;
  seconds: number;
  onChange: (seconds: number) => void;
}

/** A time such as "2 hours". */
export function Span({ label, path, seconds, onChange }: SpanProps) {
  const [unit, setUnit] = useState(() => unitOf(seconds));
  return (
    <div class="span">
      <Input
        label={label}
        path={path}
        value={String(seconds / unit)}
        onInput={(text) => {
          // The browser refuses to send what is no whole number.
          if (/^\d+$/.test(text)) onChange(Number(text) * unit);
        }}
        attributes={{ type: "number", min: "0" }}
      />
      <select
        class="input auto"
        aria-label={`${label}: unit`}
        onChange={(event) => {
          const chosen = Number(event.currentTarget.value);
          setUnit(chosen);
          onChange((seconds / unit) * chosen);
        }}
      >
        <Options options={UNITS} value={String(unit)} />
      </select>
    </div>
  );
}
