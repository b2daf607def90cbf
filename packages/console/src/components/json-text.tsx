import { showHidden } from "../format.ts";

/** A JSON value as text. Its line breaks are those of the format; within texts, they are escapes. */
export function JsonText({ value }: { value: unknown }) {
  const lines = JSON.stringify(value, null, 2).split("\n");
  return <pre class="card">{lines.map(showHidden).join("\n")}</pre>;
}
