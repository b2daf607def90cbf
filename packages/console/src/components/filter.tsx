import { queryOf, setQuery } from "../router.ts";
import { Field } from "./form.tsx";

/** Filters what is loaded. The text is in the URL. `/` moves the focus here. */
export function Filter({ label, name = "filter" }: { label: string; name?: string }) {
  return (
    <div class="filters">
      <Field label={label}>
        {(props) => (
          <input
            {...props}
            type="search"
            class="input"
            autocomplete="off"
            value={queryOf(name)}
            onInput={(event) => setQuery({ [name]: event.currentTarget.value })}
          />
        )}
      </Field>
    </div>
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
  const chosen = queryOf(name);
  return (
    <Field label={label}>
      {(props) => (
        <select
          {...props}
          class="input"
          onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
        >
          {options.map(([value, text]) => (
            <option key={value} value={value} selected={value === chosen}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
