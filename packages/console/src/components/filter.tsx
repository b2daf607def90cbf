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
