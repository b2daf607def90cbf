import { showHidden } from "../format.ts";

/** Deeper values start closed. */
const OPEN_DEPTH = 2;

type Json = unknown;

/** A JSON document whose objects and arrays open and close. */
export function JsonTree({ value }: { value: Json }) {
  return (
    <div class="tree mono card">
      <Node name={undefined} value={value} depth={0} />
    </div>
  );
}

function Node({ name, value, depth }: { name: string | undefined; value: Json; depth: number }) {
  const label = name === undefined ? "" : `${showHidden(name)}: `;
  if (typeof value !== "object" || value === null) {
    return (
      <span>
        {label}
        <bdi>{showHidden(JSON.stringify(value))}</bdi>
      </span>
    );
  }
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return <span>{`${label}${open}${close}`}</span>;
  return (
    <details open={depth < OPEN_DEPTH}>
      <summary>
        {label}
        <span class="soft">
          {open} {entries.length} {close}
        </span>
      </summary>
      <ul>
        {entries.map(([key, each]) => (
          <li key={key}>
            <Node name={key} value={each} depth={depth + 1} />
          </li>
        ))}
      </ul>
    </details>
  );
}
