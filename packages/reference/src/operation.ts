import { html } from "hono/html";
import type { Operation, OperationError, Parameter, Reply } from "./contract.ts";
import { exampleOf, renderJson, renderSample } from "./example.ts";
import {
  type FieldOptions,
  fieldsOf,
  renderFields,
  renderInnerFields,
  renderLimits,
  renderType,
} from "./fields.ts";
import { guideOfTag } from "./guide-list.ts";
import {
  linkToCredential,
  linkToError,
  linkToOperation,
  linkToPolicies,
  linkToScope,
  pathOfGuide,
} from "./links.ts";
import { type Html, renderInline, renderParagraphs } from "./markdown.ts";
import { renderRequestSamples } from "./samples/request-samples.ts";
import type { Schema, Schemas } from "./schemas.ts";

const PARAMETER_GROUPS = [
  { location: "path", title: "Path parameters" },
  { location: "query", title: "Query parameters" },
  { location: "header", title: "Headers" },
];

export function renderOperation(operation: Operation, tag: string, schemas: Schemas): Html {
  const { id, summary, description, parameters, body, replies, errors } = operation;
  return html`<article id="${id}" ${renderAttributes(operation, schemas)} aria-labelledby="${id}-title">
<header>
<h2 id="${id}-title"><a href="${linkToOperation(tag, id)}">${summary}</a></h2>
<p class="endpoint">${renderMethod(operation.method)} <code>${withLineBreaks(operation.path)}</code></p>
</header>
<div class="facts">
${renderParagraphs(description)}
${renderRequirements(operation, tag)}
${PARAMETER_GROUPS.map(({ location, title }) => {
  const group = parameters.filter((each) => each.in === location);
  return group.length === 0 ? "" : renderParameters(title, group, schemas);
})}
${body ? html`<h3>Body</h3>${renderContent("", body.schema, { schemas, labeled: "required" })}` : ""}
${replies.map((reply) => renderReply(reply, schemas))}
${renderErrors(errors)}
</div>
<div class="samples">
${renderRequestSamples(operation, schemas)}
${replies.map((reply) => renderReplySample(reply, summary, schemas))}
${isTryable(operation) ? html`<div data-try hidden></div>` : ""}
</div>
</article>`;
}

/** For the script, which sends requests. */
function renderAttributes({ method, path, credential, body }: Operation, schemas: Schemas): Html {
  const json = body && JSON.stringify(exampleOf(body.schema, schemas, true));
  return html`data-method="${method}" data-path="${path}"${
    credential ? html` data-credential="${credential.id}"` : ""
  }${json ? html` data-body="${json}"` : ""}`;
}

/** Whether the request is JSON, and the response is JSON or empty. The forms send no cookies. */
function isTryable({ sendsText, replies, credential }: Operation): boolean {
  if (credential?.isCookie || replies.some(({ status }) => status === "303")) return false;
  const types = replies.flatMap(({ mediaType }) => mediaType ?? []);
  return !sendsText && types.every((type) => type === "application/json");
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

function renderRequirements({ credential, scope, policy }: Operation, tag: string): Html {
  const authentication = credential
    ? html`<a href="${linkToCredential(credential.id)}">${nameCredential(credential.id)}</a>`
    : "None";
  const guide = guideOfTag(tag);
  return html`<dl class="needs">
<div><dt>Authentication</dt><dd>${authentication}</dd></div>
${scope ? html`<div><dt>Scope</dt><dd><a href="${linkToScope(scope)}"><code>${scope}</code></a></dd></div>` : ""}
${policy ? html`<div><dt>Rate limit policy</dt><dd><a href="${linkToPolicies()}"><code>${policy}</code></a></dd></div>` : ""}
${guide ? html`<div><dt>Guide</dt><dd><a href="${pathOfGuide(guide.slug)}">${guide.title}</a></dd></div>` : ""}
</dl>`;
}

/** "API key" for `api_key`. */
export function nameCredential(id: string): string {
  const words = id.replaceAll("_", " ").replace(/^api\b/, "API");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function renderParameters(title: string, parameters: readonly Parameter[], schemas: Schemas): Html {
  const fields = parameters.map(
    ({ name, required = false, description, schema = {}, in: location }) => {
      return { name, required, description, schema, in: location };
    },
  );
  return html`<h3>${title}</h3>${renderFields(fields, { schemas, labeled: "required" })}`;
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
  return html`<h3>Response <span class="status">${status}</span></h3>
${
  mediaType === "application/json" && schema
    ? renderContent(description, schema, { schemas, labeled: "optional" })
    : html`<p>${renderInline(description)} ${mediaType && html`<code>${mediaType}</code>`}</p>`
}`;
}

function renderErrors(errors: readonly OperationError[]): Html | "" {
  if (errors.length === 0) return "";
  return html`<details class="errors"><summary>Errors</summary>
<div class="table" tabindex="0" role="group" aria-label="Errors"><table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Example of a message</th></tr></thead>
<tbody>${errors.map(
    ({ status, code, message }) =>
      html`<tr><td>${status}</td><th scope="row"><a href="${linkToError(code)}"><code>${code}</code></a></th><td>${renderInline(message)}</td></tr>`,
  )}</tbody>
</table></div></details>`;
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
