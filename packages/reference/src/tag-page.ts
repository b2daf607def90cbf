import { html } from "hono/html";
import type { Tag } from "./contract.ts";
import { type Html, renderParagraphs } from "./markdown.ts";
import { renderOperation } from "./operation.ts";
import type { Schemas } from "./schemas.ts";

export function renderTag({ name, description, operations }: Tag, schemas: Schemas): Html {
  return html`<h1>${name}</h1>
${renderParagraphs(description)}
${operations.map((operation) => renderOperation(operation, name, schemas))}`;
}
