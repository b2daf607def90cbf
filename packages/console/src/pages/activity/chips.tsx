import type { ComponentChildren } from "preact";
import { Options } from "../../components/form.tsx";
import { showHidden } from "../../format.ts";
import { queryOf, setQuery } from "../../router.ts";

interface ChoiceChipProps {
  name: string;
  label: string;
  /** The first, with an empty value, is for all. */
  options: readonly (readonly [value: string, label: string])[];
}

/** A filter in the URL. It is marked while it leaves something out. */
export function ChoiceChip({ name, label, options }: ChoiceChipProps) {
  const value = queryOf(name);
  return (
    <select
      class={value ? "chip on" : "chip"}
      aria-label={label}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
    >
      <Options options={options} value={value} />
    </select>
  );
}

/** A filter that is on or off, in the URL. */
export function SwitchChip({ name, label }: { name: string; label: string }) {
  const isOn = queryOf(name) !== "";
  return (
    <button
      type="button"
      class={isOn ? "chip on" : "chip"}
      aria-pressed={isOn}
      onClick={() => setQuery({ [name]: isOn ? "" : "yes" })}
    >
      {label}
    </button>
  );
}

interface RemovableChipProps {
  names: readonly string[];
  label: string;
  children: ComponentChildren;
}

/** A filter that a link has set: one can only take it away. */
export function RemovableChip({ names, label, children }: RemovableChipProps) {
  return (
    <button
      type="button"
      class="chip on"
      aria-label={label}
      onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, ""])))}
    >
      {children} <span aria-hidden="true">×</span>
    </button>
  );
}

/** Options for names that people have written, sorted, each once. */
export function nameOptions(all: string, names: readonly string[]) {
  const sorted = [...new Set(names)].toSorted((a, b) => a.localeCompare(b));
  return [["", all], ...sorted.map((name) => [name, showHidden(name)] as const)] as const;
}
