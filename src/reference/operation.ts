import { html } from "hono/html";
import type { Operation, OperationError, Parameter, Reply } from "./contract.ts";
import { renderCurl } from "./curl.ts";
import { exampleOf, renderJson, renderSample } from "./example.ts";
import {
  type FieldOptions,
  fieldsOf,
  renderFields,
  renderInnerFields,
  renderLimits,
  renderType,
} from "./fields.ts";
import { type Html, renderInline, renderParagraphs } from "./markdown.ts";
import type { Schema, Schemas } from "./schemas.ts";

const PARAMETER_GROUPS = [
  { location: "path", title: "Path parameters" },
  { location: "query", title: "Query parameters" },
  { location: "header", title: "Headers" },
];

export function renderOperation(operation: Operation, schemas: Schemas): Html {
  const { id, summary, description, parameters, body, replies, errors } = operation;
  return html`<article id="${id}" aria-labelledby="${id}-title">
<header>
<h3 id="${id}-title"><a href="#${id}">${summary}</a></h3>
<p class="endpoint">${renderMethod(operation.method)} <code>${withLineBreaks(operation.path)}</code></p>
</header>
<div class="facts">
${renderParagraphs(description)}
${renderRequirements(operation)}
${PARAMETER_GROUPS.map(({ location, title }) => {
  const group = parameters.filter((each) => each.in === location);
  return group.length === 0 ? "" : renderParameters(title, group, schemas);
})}
${body ? html`<h4>Body</h4>${renderContent("", body.schema, { schemas, labeled: "required" })}` : ""}
${replies.map((reply) => renderReply(reply, schemas))}
${renderErrors(errors)}
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

function withLineBreaks(path: string): Html[] {
  return path.split(/(?<=\/)/).map((part) => {
    const name = /^(\{.+\})(.*)$/.exec(part);
    return name ? html`<wbr><var>${name[1]}</var>${name[2]}` : html`<wbr>${part}`;
  });
}

function renderRequirements({ credential, policy }: Operation): Html {
  const authentication = credential
    ? html`<a href="#credential-${credential.id}">${nameCredential(credential.id)}</a>`
    : "None";
  return html`<dl class="needs">
<div><dt>Authentication</dt><dd>${authentication}</dd></div>
${policy ? html`<div><dt>Rate limit policy</dt><dd><code>${policy}</code></dd></div>` : ""}
</dl>`;
}

/** "API key" for `api_key`. */
export function nameCredential(id: string): string {
  const words = id.replaceAll("_", " ").replace(/^api\b/, "API");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function renderParameters(title: string, parameters: readonly Parameter[], schemas: Schemas): Html {
  const fields = parameters.map(({ name, required = false, description, schema = {} }) => {
    return { name, required, description, schema };
  });
  return html`<h4>${title}</h4>${renderFields(fields, { schemas, labeled: "required" })}`;
}

function renderContent(description: string, schema: Schema, options: FieldOptions): Html {
  const { schemas } = options;
  const shape = schemas.resolve(schema);
  const text = description && renderInline(description);
  if (shape.properties && !schemas.isLinked(shape.name)) {
    return html`${text && html`<p>${text}</p>`}${renderFields(fieldsOf(shape), options)}`;
  }
  return html`<p>${text} <span class="type">${renderType(shape, schemas)}</span></p>
${renderLimits(shape, schemas)}${renderInnerFields(shape, options)}`;
}

function renderReply({ status, description, mediaType, schema }: Reply, schemas: Schemas): Html {
  return html`<h4>Response <span class="status">${status}</span></h4>
${
  mediaType === "application/json" && schema
    ? renderContent(description, schema, { schemas, labeled: "optional" })
    : html`<p>${renderInline(description)} ${mediaType && html`<code>${mediaType}</code>`}</p>`
}`;
}

function renderErrors(errors: readonly OperationError[]): Html | "" {
  if (errors.length === 0) return "";
  return html`<details class="errors"><summary>Errors</summary>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Example of a message</th></tr></thead>
<tbody>${errors.map(
    ({ status, code, message }) =>
      html`<tr><td>${status}</td><th scope="row"><code>${code}</code></th><td>${renderInline(message)}</td></tr>`,
  )}</tbody>
</table></details>`;
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
