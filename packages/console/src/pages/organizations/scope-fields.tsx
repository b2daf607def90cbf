import { SCOPES, type Scope } from "../../../../../src/lib/scopes.ts";
import { Check, type FormFields } from "../../components/form.tsx";

interface ScopeFieldsProps {
  /** Those to choose from. Absent: all. */
  offered?: readonly Scope[] | undefined;
  chosen?: readonly Scope[];
}

export function ScopeFields({ offered = SCOPES, chosen = [] }: ScopeFieldsProps) {
  return (
    <fieldset class="stack">
      <legend>Scopes (none: all of yours)</legend>
      <div class="checks">
        {offered.map((scope) => (
          <Check
            key={scope}
            name="scope"
            value={scope}
            label={<code>{scope}</code>}
            checked={chosen.includes(scope)}
          />
        ))}
      </div>
    </fieldset>
  );
}

/** Undefined: no scope is chosen. */
export function readScopes(fields: FormFields): Scope[] | undefined {
  const chosen = fields.all("scope") as Scope[];
  return chosen.length > 0 ? chosen : undefined;
}
