import type { IndexedOperation, SearchIndex } from "../src/index-format.ts";
import { type Entry, type Kind, wordsOf } from "./ranking.ts";

/** Operations first: of equally good entries, the first ones are shown. */
export function entriesOf({ operations, schemas, errors, webhooks, guides }: SearchIndex): Entry[] {
  return [
    ...operations.map(operationEntry),
    ...guides.map(({ title, of, url }) =>
      entry("guide", title, of ? `Guide: ${of}` : "Guide", url),
    ),
    ...errors.map(({ code, status, url }) => entry("error", code, `Error ${status}`, url)),
    ...webhooks.map(({ type, summary, url }) => entry("webhook", summary, `Webhook ${type}`, url)),
    ...schemas.map(({ name, url }) => entry("schema", name, "Schema", url)),
    ...schemas.flatMap(({ name, url, fields }) =>
      fields.map((field) => entry("field", field, `Field of ${name}`, url)),
    ),
    ...operations.flatMap(({ summary, url, fields }) =>
      fields.map((field) => entry("field", field, `Field of: ${summary}`, url)),
    ),
  ];
}

function operationEntry({ id, summary, method, path, url }: IndexedOperation): Entry {
  return {
    kind: "operation",
    title: summary,
    detail: `${method} ${path}`,
    url,
    names: [wordsOf(summary), wordsOf(id)],
    text: `${summary} ${id} ${method} ${path}`.toLowerCase(),
  };
}

function entry(kind: Kind, title: string, detail: string, url: string): Entry {
  const isField = kind === "field";
  // A field is not found by its operation, which is a result itself.
  const text = (isField ? title : `${title} ${detail}`).toLowerCase();
  return { kind, title, detail, url, names: [wordsOf(title)], text };
}
