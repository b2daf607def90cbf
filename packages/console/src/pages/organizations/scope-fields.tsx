import { useState } from "preact/hooks";
import { grantsScope, SCOPES, type Scope } from "../../../../../src/lib/scopes.ts";
import type { FormFields } from "../../components/form.tsx";
import { humanize } from "../../format.ts";

/** The scopes of docs/ci.md. */
const CI: readonly Scope[] = ["projects:read", "environments:read", "deployments:write"];

interface ScopeFieldsProps {
  /** Those to choose from. Absent: all. */
  offered?: readonly Scope[] | undefined;
  chosen?: readonly Scope[] | undefined;
  /** Said of no scope at all. Absent: there are no presets. */
  everything?: string;
}

/** Presets, and a row for each type of resource. No scope: everything that the session may. */
export function ScopeFields({
  offered = SCOPES,
  chosen: first = [],
  everything,
}: ScopeFieldsProps) {
  const [chosen, setChosen] = useState(first);
  const accesses = ["read", "write", "reveal"].filter((access) =>
    offered.some((scope) => scope.endsWith(`:${access}`)),
  );
  const subjects = [...new Set(offered.map((scope) => scope.split(":")[0] ?? ""))];
  return (
    <fieldset class="stack">
      <legend>Scopes (none: all of yours)</legend>
      {everything !== undefined && (
        <Presets offered={offered} everything={everything} chosen={chosen} onChange={setChosen} />
      )}
      <div class="scroll">
        <table class="scopes">
          <thead>
            <tr>
              <th scope="col">Resource</th>
              {accesses.map((access) => (
                <th key={access} scope="col">
                  {humanize(access)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {subjects.map((subject) => (
              <tr key={subject}>
                <th scope="row">{humanize(subject)}</th>
                {accesses.map((access) => {
                  const scope = offered.find((each) => each === `${subject}:${access}`);
                  return (
                    <td key={access}>
                      {scope && (
                        <input
                          type="checkbox"
                          name="scope"
                          aria-label={scope}
                          value={scope}
                          checked={chosen.includes(scope)}
                          onChange={({ currentTarget }) =>
                            setChosen(
                              currentTarget.checked
                                ? [...chosen, scope]
                                : chosen.filter((each) => each !== scope),
                            )
                          }
                        />
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="soft small">Write includes read.</p>
    </fieldset>
  );
}

interface PresetsProps {
  offered: readonly Scope[];
  everything: string;
  chosen: readonly Scope[];
  onChange: (chosen: readonly Scope[]) => void;
}

function Presets({ offered, everything, chosen, onChange }: PresetsProps) {
  // A session that is narrowed itself gives no more than it has.
  const presets = [
    [everything, []],
    ["Deploy from CI", CI.every((scope) => grantsScope(offered, scope)) ? CI : undefined],
    ["Read only", offered.filter((scope) => scope.endsWith(":read"))],
  ] as const;
  return (
    <div class="row">
      {presets.map(
        ([name, scopes]) =>
          scopes && (
            <button
              key={name}
              type="button"
              class={isSame(chosen, scopes) ? "chip on" : "chip"}
              aria-pressed={isSame(chosen, scopes)}
              onClick={() => onChange(scopes)}
            >
              {name}
            </button>
          ),
      )}
    </div>
  );
}

function isSame(one: readonly Scope[], other: readonly Scope[]): boolean {
  return one.length === other.length && one.every((each) => other.includes(each));
}

/** Undefined: no scope is chosen. */
export function readScopes(fields: FormFields): Scope[] | undefined {
  const chosen = fields.all("scope") as Scope[];
  return chosen.length > 0 ? chosen : undefined;
}
