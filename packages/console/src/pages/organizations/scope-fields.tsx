import { SCOPES, type Scope } from "../../../../../src/lib/scopes.ts";
import { Choices, type FormFields } from "../../components/form.tsx";

interface ScopeFieldsProps {
  /** Those to choose from. Absent: all. */
  offered?: readonly Scope[] | undefined;
  chosen?: readonly Scope[] | undefined;
}

export function ScopeFields({ offered = SCOPES, chosen }: ScopeFieldsProps) {
  return (
    <Choices
      name="scope"
      legend="Scopes (none: all of yours)"
      options={offered.map((scope) => [scope, <code key={scope}>{scope}</code>])}
      chosen={chosen}
    />
  );
}

/** Undefined: no scope is chosen. */
export function readScopes(fields: FormFields): Scope[] | undefined {
  const chosen = fields.all("scope") as Scope[];
  return chosen.length > 0 ? chosen : undefined;
}
