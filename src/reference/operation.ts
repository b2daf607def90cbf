import { html } from "hono/html";
import type { Operation, Parameter, Reply } from "./contract.ts";
import { renderCurl } from "./curl.ts";
import { exampleOf } from "./example.ts";
import {
  fieldsOf,
  renderFields,
  renderInner,
  renderLimits,
  renderType,
  type Telling,
} from "./fields.ts";
import { type Html, renderInline, renderParagraphs } from "./markdown.ts";
import { renderJson, renderSample } from "./sample.ts";
import type { Schema, Schemas } from "./schemas.ts";

const PLACES = [
  { place: "path", title: "Path parameters" },
  { place: "query", title: "Query parameters" },
  { place: "header", title: "Headers" },
];

/** Everything about one operation, with its examples beside it. */
export function renderOperation(operation: Operation, schemas: Schemas): Html {
  const { id, summary, description, parameters, body, replies } = operation;
  return html`<article id="${id}" aria-labelledby="${id}-title">
<header>
<h3 id="${id}-title"><a href="#${id}">${summary}</a></h3>
<p class="endpoint">${renderMethod(operation.method)} <code>${breakable(operation.path)}</code></p>
</header>
<div class="facts">
${renderParagraphs(description)}
${renderNeeds(operation)}
${PLACES.map(({ place, title }) => {
  const here = parameters.filter((each) => each.in === place);
  return here.length === 0 ? "" : renderParameters(title, here, schemas);
})}
${body ? html`<h4>Body</h4>${renderContent("", body.schema, { schemas, mark: "required" })}` : ""}
${replies.map((reply) => renderReply(reply, schemas))}
</div>
<div class="samples">
${renderSample("Request", `curl for: ${summary}`, renderCurl(operation, schemas))}
${replies.map((reply) => renderReplySample(reply, summary, schemas))}
</div>
</article>`;
}

export function renderMethod(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

/** A path that may be broken after each of its slashes, and nowhere else. */
function breakable(path: string): Html[] {
  return path.split(/(?<=\/)/).map((part) => {
    const name = /^(\{.+\})(.*)$/.exec(part);
    return name ? html`<wbr><var>${name[1]}</var>${name[2]}` : html`<wbr>${part}`;
  });
}

function renderNeeds({ credential, policy }: Operation): Html {
  const needs = credential
    ? html`<a href="#credential-${credential.id}">${nameCredential(credential.id)}</a>`
    : "None";
  return html`<dl class="needs">
<div><dt>Authentication</dt><dd>${needs}</dd></div>
${policy ? html`<div><dt>Rate limit policy</dt><dd><code>${policy}</code></dd></div>` : ""}
</dl>`;
}

/** `api_key` as people call it: "API key". */
export function nameCredential(id: string): string {
  const words = id.replaceAll("_", " ").replace(/^api\b/, "API");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function renderParameters(title: string, parameters: readonly Parameter[], schemas: Schemas): Html {
  const fields = parameters.map(({ name, required = false, description, schema = {} }) => {
    return { name, required, description, schema };
  });
  return html`<h4>${title}</h4>${renderFields(fields, { schemas, mark: "required" })}`;
}

/**
 * The fields of an object; for anything else its type after the description, and what is inside.
 */
function renderContent(description: string, schema: Schema, telling: Telling): Html {
  const { schemas } = telling;
  const shape = schemas.resolve(schema);
  const told = description && renderInline(description);
  if (shape.properties && !schemas.isLinked(shape.name)) {
    return html`${told && html`<p>${told}</p>`}${renderFields(fieldsOf(shape), telling)}`;
  }
  return html`<p>${told} <span class="type">${renderType(shape, schemas)}</span></p>
${renderLimits(shape, schemas)}${renderInner(shape, telling)}`;
}

function renderReply({ status, description, mediaType, schema }: Reply, schemas: Schemas): Html {
  return html`<h4>Response <span class="status">${status}</span></h4>
${
  mediaType === "application/json" && schema
    ? renderContent(description, schema, { schemas, mark: "optional" })
    : html`<p>${renderInline(description)} ${mediaType && html`<code>${mediaType}</code>`}</p>`
}`;
}

function renderReplySample(
  { status, mediaType, schema }: Reply,
  summary: string,
  schemas: Schemas,
) {
  if (mediaType !== "application/json" || !schema) return "";
  const json = renderJson(exampleOf(schema, schemas));
  return renderSample(`Response ${status}`, `Response ${status} of: ${summary}`, json);
}
