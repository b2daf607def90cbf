import { html } from "hono/html";
import { renderInnerFields, renderLimits, renderType } from "./fields.ts";
import { linkToSchema } from "./links.ts";
import { type Html, renderInline } from "./markdown.ts";
import type { Schemas } from "./schemas.ts";

export function renderSchemas(schemas: Schemas): Html {
  return html`<h1>Schemas</h1>
<p>These schemas are used by several operations. Fields are always present unless they are marked
as optional.</p>
${schemas
  .linked()
  .toSorted()
  .map((name) => renderSchema(name, schemas))}`;
}

function renderSchema(name: string, schemas: Schemas): Html {
  const { name: _, ...shape } = schemas.named(name);
  return html`<article id="schema-${name}" class="prose" aria-labelledby="schema-${name}-title">
<h2 id="schema-${name}-title"><a href="${linkToSchema(name)}">${name}</a></h2>
<p>${renderInline(shape.description ?? "")}
${shape.properties ? "" : html`<span class="type">${renderType(shape, schemas)}</span>`}</p>
${renderLimits(shape, schemas)}${renderInnerFields(shape, { schemas, labeled: "optional" })}
</article>`;
}
