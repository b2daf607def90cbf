import { html } from "hono/html";
import type { Contract, Tag } from "./contract.ts";
import { exampleOf, renderJson, renderSample } from "./example.ts";
import { fieldsOf, renderFields } from "./fields.ts";
import { GUIDE_FILES } from "./guide-list.ts";
import {
  anchorOfScope,
  linkToOperation,
  linkToSchema,
  pathOfGuide,
  pathOfTag,
  SCHEMAS_PATH,
  WEBHOOKS_PATH,
} from "./links.ts";
import { type Html, renderInline, renderTopics } from "./markdown.ts";
import { nameCredential, renderMethod } from "./operation.ts";
import { renderSetup } from "./samples/setup.ts";
import { anchorOfWebhook } from "./webhooks.ts";

const SECTIONS = [
  { id: "introduction", title: "Introduction" },
  { id: "authentication", title: "Authentication" },
  { id: "scopes", title: "Scopes" },
  { id: "errors", title: "Errors" },
  { id: "headers", title: "Response headers" },
  { id: "guides", title: "Guides" },
  { id: "operations", title: "Operations" },
] as const;

export function sectionsOfOverview(): { id: string; title: string }[] {
  return [...SECTIONS];
}

export function renderOverview(contract: Contract): Html {
  const { title, description, credentials, headers } = contract;
  return html`<section id="introduction" aria-labelledby="title">
<div class="facts">
<h1 id="title">${title} API</h1>
${renderTopics(description)}
</div>
<div class="samples">${renderSetup(credentials)}</div>
</section>
<section id="authentication" class="prose" aria-labelledby="authentication-title">
<h2 id="authentication-title">Authentication</h2>
<dl class="fields">${credentials.map(
    (each) => html`<div id="credential-${each.id}"><dt>${nameCredential(each.id)}
<code>${each.header("…")}</code></dt><dd><p>${renderInline(each.description)}</p></dd></div>`,
  )}</dl>
</section>
${renderScopes(contract)}
${renderErrors(contract)}
<section id="headers" class="prose" aria-labelledby="headers-title">
<h2 id="headers-title">Response headers</h2>
<dl class="fields">${headers.map(
    ({ name, description }) =>
      html`<div><dt><code>${name}</code></dt><dd><p>${renderInline(description)}</p></dd></div>`,
  )}</dl>
</section>
${renderGuides()}
${renderIndex(contract)}`;
}

function renderGuides(): Html {
  return html`<section id="guides" class="index" aria-labelledby="guides-title">
<h2 id="guides-title">Guides</h2>
<ul>${GUIDE_FILES.map(
    ({ slug, title }) => html`<li><a href="${pathOfGuide(slug)}"><span>${title}</span></a></li>`,
  )}</ul>
</section>`;
}

function renderScopes({ tags }: Contract): Html {
  const operations = tags.flatMap((tag) => tag.operations.map((each) => ({ ...each, tag })));
  const byScope = Map.groupBy(operations, ({ scope }) => scope);
  const scopes = [...byScope.keys()].filter((each) => each !== undefined).toSorted();
  return html`<section id="scopes" class="prose" aria-labelledby="scopes-title">
<h2 id="scopes-title">Scopes</h2>
<p>A key without scopes may do what its owner may. A narrowed key may only call the operations of its scopes.
A scope that ends with <code>:write</code> includes the one with <code>:read</code>.</p>
<dl class="fields">${scopes.map(
    (scope) => html`<div id="${anchorOfScope(scope)}"><dt><code>${scope}</code></dt>
<dd><details><summary>${renderCount(byScope.get(scope)?.length ?? 0)}</summary><ul class="links">${byScope
      .get(scope)
      ?.map(
        ({ id, summary, tag }) =>
          html`<li><a href="${linkToOperation(tag.name, id)}">${summary}</a></li>`,
      )}</ul></details></dd></div>`,
  )}</dl>
</section>`;
}

function renderCount(count: number): string {
  return count === 1 ? "1 operation" : `${count} operations`;
}

function renderErrors({ errors, schemas }: Contract): Html {
  const fields = fieldsOf(schemas.named("Error")).filter(({ name }) => name !== "code");
  return html`<section id="errors" aria-labelledby="errors-title">
<div class="facts">
<h2 id="errors-title">Errors</h2>
<p>Each operation lists which of these errors it can return, with examples.</p>
<div class="table" tabindex="0" role="group" aria-label="Errors"><table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
<tbody>${errors.map(
    ({ status, code, meaning }) =>
      html`<tr id="error-${code}"><td>${status}</td><th scope="row"><code>${code}</code></th><td>${renderInline(meaning)}</td></tr>`,
  )}</tbody>
</table></div>
<p>The body also contains:</p>
${renderFields(fields, { schemas, labeled: "optional" })}
</div>
<div class="samples">${renderSample(
    "An error",
    "An error",
    renderJson(exampleOf({ $ref: "#/components/schemas/Error" }, schemas)),
  )}</div>
</section>`;
}

function renderIndex({ tags, webhooks: { webhooks }, schemas }: Contract): Html {
  return html`<section id="operations" class="index" aria-labelledby="operations-title">
<h2 id="operations-title">Operations</h2>
${tags.map(renderTagIndex)}
${
  webhooks.length === 0
    ? ""
    : html`<h3><a href="${WEBHOOKS_PATH}">Webhooks</a></h3>
<ul>${webhooks.map(
        (each) =>
          html`<li><a href="${WEBHOOKS_PATH}#${anchorOfWebhook(each)}">${each.summary}</a></li>`,
      )}</ul>`
}
<h3><a href="${SCHEMAS_PATH}">Schemas</a></h3>
<ul>${schemas
    .linked()
    .toSorted()
    .map((name) => html`<li><a href="${linkToSchema(name)}">${name}</a></li>`)}</ul>
</section>`;
}

function renderTagIndex({ name, operations }: Tag): Html {
  return html`<h3><a href="${pathOfTag(name)}">${name}</a></h3>
<ul>${operations.map(
    ({ id, method, summary, path }) =>
      html`<li><a href="${linkToOperation(name, id)}">${renderMethod(method)} <span>${summary}</span></a> <code>${path}</code></li>`,
  )}</ul>`;
}
