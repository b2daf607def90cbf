import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { queryOf, setQuery } from "../router.ts";
import { Field, Options } from "./form.tsx";

interface TextFilterProps {
  name: string;
  label: string;
  placeholder?: string;
}

/** Filters what is loaded. The text is in the URL. `/` moves the focus to the first. */
export function TextFilter({ name, label, placeholder }: TextFilterProps) {
  return (
    <Field label={label}>
      {(props) => (
        <input
          {...props}
          type="search"
          class="input"
          autocomplete="off"
          placeholder={placeholder}
          value={queryOf(name)}
          onInput={(event) => setQuery({ [name]: event.currentTarget.value })}
        />
      )}
    </Field>
  );
}

interface ChoiceFilterProps {
  name: string;
  label: string;
  /** The first one, with an empty value, is for all. */
  options: readonly (readonly [value: string, label: string])[];
}

/** A choice that is in the URL. */
export function ChoiceFilter({ name, label, options }: ChoiceFilterProps) {
  return (
    <Field label={label}>
      {(props) => (
        <select
          {...props}
          class="input"
          onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
        >
          <Options options={options} value={queryOf(name)} />
        </select>
      )}
    </Field>
  );
}

interface SearchFilterProps {
  name: string;
  label: string;
  type?: "text" | "datetime-local";
}

/**
 * A value in the URL that a request searches for. It takes effect when the person leaves the field or presses Enter: a
 * part of it is of no use.
 */
export function SearchFilter({ name, label, type = "text" }: SearchFilterProps) {
  return (
    <Field label={label}>
      {(control) => (
        <input
          {...control}
          type={type as "text"}
          class="input"
          autocomplete="off"
          value={queryOf(name)}
          onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim() })}
        />
      )}
    </Field>
  );
}

/** Several filters. In a narrow window, they are behind one button, unless the URL has some. */
export function FilterGroup({ children }: { children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(location.search !== "");
  const id = useId();
  return (
    <>
      <button
        type="button"
        class="button filter-button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        Filters
      </button>
      <div id={id} class={isOpen ? "filter-group open" : "filter-group"}>
        {children}
      </div>
    </>
  );
}
