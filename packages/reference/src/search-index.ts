import type { Contract, Operation } from "./contract.ts";
import { fieldsOf } from "./fields.ts";
import type { Guide } from "./guide-markdown.ts";
import type { IndexedOperation, SearchIndex } from "./index-format.ts";
import { linkToError, linkToOperation, linkToSchema, pathOfGuide, WEBHOOKS_PATH } from "./links.ts";
import type { Schema, Schemas, Shape } from "./schemas.ts";
import { anchorOfWebhook } from "./webhooks.ts";

/** Ends the recursion for schemas that contain themselves. */
const MAX_DEPTH = 6;

/** JSON, which the search of the pages reads. */
export function renderSearchIndex(
  { tags, schemas, errors, webhooks }: Contract,
  guides: readonly Guide[],
): string {
  const index: SearchIndex = {
    operations: tags.flatMap(({ name, operations }) =>
      operations.map((operation) => indexOperation(operation, name, schemas)),
    ),
    schemas: schemas.linked().map((name) => {
      const { name: _, ...shape } = schemas.named(name);
      return { name, url: linkToSchema(name), fields: unique(namesIn(shape, schemas)) };
    }),
    errors: errors.map(({ code, status }) => ({ code, status, url: linkToError(code) })),
    webhooks: webhooks.webhooks.map((each) => {
      const { type, summary } = each;
      return { type, summary, url: `${WEBHOOKS_PATH}#${anchorOfWebhook(each)}` };
    }),
    guides: guides.flatMap(({ slug, title, sections }) => [
      { title, of: undefined, url: pathOfGuide(slug) },
      ...sections.map((each) => {
        return { title: each.title, of: title, url: `${pathOfGuide(slug)}#${each.id}` };
      }),
    ]),
  };
  return JSON.stringify(index);
}

function indexOperation(operation: Operation, tag: string, schemas: Schemas): IndexedOperation {
  const { id, summary, method, path, parameters, body, replies } = operation;
  const contents = [body?.schema, ...replies.map(({ schema }) => schema)];
  const names = contents.flatMap((schema) => (schema ? fieldNames(schema, schemas, 0) : []));
  const fields = unique([...parameters.map(({ name }) => name), ...names]);
  return { id, summary, method, path, url: linkToOperation(tag, id), fields };
}

/** Without the fields of schemas that have their own section. */
function fieldNames(schema: Schema, schemas: Schemas, depth: number): string[] {
  const shape = schemas.resolve(schema);
  if (depth > MAX_DEPTH || schemas.isLinked(shape.name)) return [];
  return namesIn(shape, schemas, depth);
}

function namesIn(shape: Shape, schemas: Schemas, depth = 0): string[] {
  const { items, additionalProperties: rest, variants } = shape;
  const fields = fieldsOf(shape);
  const inner = [
    ...fields.map(({ schema }) => schema),
    ...(items ? [items] : []),
    ...(typeof rest === "object" ? [rest] : []),
    ...variants,
  ];
  const names = inner.flatMap((schema) => fieldNames(schema, schemas, depth + 1));
  return [...fields.map(({ name }) => name), ...names];
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
