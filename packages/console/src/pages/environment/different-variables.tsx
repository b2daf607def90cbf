import type { Schemas } from "../../api.ts";
import { showHidden } from "../../format.ts";

type Differences = NonNullable<Schemas["EnvironmentComparison"]["variables"]>;

interface DifferentVariablesProps {
  /** Of the environment and of the other one. */
  names: readonly [own: string, other: string];
  variables: Differences;
}

/** The names that one of two environments lacks, or stores by another method. */
export function DifferentVariables({ names, variables }: DifferentVariablesProps) {
  const { missing, extra, stored_differently } = variables;
  const rows = [
    ...missing.map((each) => ({ ...each, own: "missing", other: "has it" })),
    ...extra.map((each) => ({ ...each, own: "has it", other: "missing" })),
    ...stored_differently.map((each) => ({
      ...each,
      own: each.storage_method,
      other: each.with_storage_method,
    })),
  ];
  if (rows.length === 0) {
    return <p class="soft">Both have the same names, stored by the same methods.</p>;
  }
  return (
    <table class="fixed">
      <thead>
        <tr>
          {["Name", ...names].map((each, at) => (
            <th key={at} scope="col">
              {each}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, component, own, other }) => (
          <tr key={`${component} ${name}`}>
            <th scope="row">
              <code>{showHidden(name)}</code>
              {component !== undefined && (
                <div>
                  of <bdi>{showHidden(component)}</bdi>
                </div>
              )}
            </th>
            <td>{own}</td>
            <td>{other}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
