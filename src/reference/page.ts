import { html, raw } from "hono/html";
import { ICON } from "../http/html-page.ts";
import type { OpenApiDocument } from "../http/openapi.ts";
import { type Contract, readContract, type Tag } from "./contract.ts";
import { renderSettings } from "./curl.ts";
import { exampleOf, renderJson, renderSample } from "./example.ts";
import { fieldsOf, renderFields, renderInnerFields, renderLimits, renderType } from "./fields.ts";
import { type Html, renderInline, renderParagraphs } from "./markdown.ts";
import { nameCredential, renderMethod, renderOperation } from "./operation.ts";
import type { Schemas } from "./schemas.ts";
import { STYLE } from "./style.ts";
import { anchorOfWebhook, renderWebhooks } from "./webhooks.ts";

/** One HTML page, without scripts or other files. */
export function renderReference(document: OpenApiDocument): string {
  const contract = readContract(document);
  const { title, tags, webhooks, schemas } = contract;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} API reference</title>
<link rel="icon" href="${ICON}">
<style>${raw(STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="side">
<p class="brand"><a href="#introduction">${title}</a> <span>API reference</span></p>
<nav aria-label="Contents">${renderContents(contract)}</nav>
<details><summary>Contents</summary>
<nav id="contents" aria-label="Contents">${renderContents(contract)}</nav></details>
<a class="to-contents" href="#contents">Contents</a>
</header>
<main id="main" tabindex="-1">
${renderIntroduction(contract)}
${tags.map((tag) => renderTag(tag, schemas))}
${renderWebhooks(webhooks, schemas)}
<section id="schemas" aria-labelledby="schemas-title">
<h2 id="schemas-title">Schemas</h2>
<p>These schemas are used by several operations. Fields are always present unless they are marked
as optional.</p>
${schemas
  .linked()
  .sort()
  .map((name) => renderSchema(name, schemas))}
</section>
<footer><p>Also available as an <a href="/openapi.json">OpenAPI 3.1 document</a>.</p></footer>
</main>
</body>
</html>`;
  // Hono returns a promise only if the page contains one, and it contains none.
  return page.toString();
}

function renderContents({ tags, webhooks: { webhooks } }: Contract): Html {
  return html`<ul>
<li><a href="#introduction">Introduction</a></li>
<li><a href="#authentication">Authentication</a></li>
<li><a href="#errors">Errors</a></li>
<li><a href="#headers">Response headers</a></li>
</ul>
${tags.map(
  ({ name, operations }) => html`<p><a href="#${anchorOf(name)}">${name}</a></p>
<ul>${operations.map(
    ({ id, method, summary }) =>
      html`<li><a href="#${id}">${renderMethod(method)}<span>${summary}</span></a></li>`,
  )}</ul>`,
)}
${webhooks.length === 0 ? "" : html`<p><a href="#webhooks">Webhooks</a></p>`}
<ul>${webhooks.map(
    (each) => html`<li><a href="#${anchorOfWebhook(each)}"><span>${each.summary}</span></a></li>`,
  )}</ul>
<p><a href="#schemas">Schemas</a></p>`;
}

function renderIntroduction(contract: Contract): Html {
  const { title, description, credentials, headers } = contract;
  return html`<section id="introduction" aria-labelledby="title">
<div class="facts">
<h1 id="title">${title} API</h1>
${renderParagraphs(description)}
</div>
<div class="samples">${renderSample("Set these for the examples", "Variables of the examples", renderSettings(credentials))}</div>
</section>
<section id="authentication" class="prose" aria-labelledby="authentication-title">
<h2 id="authentication-title">Authentication</h2>
<dl class="fields">${credentials.map(
    (each) => html`<div id="credential-${each.id}"><dt>${nameCredential(each.id)}
<code>${each.header("…")}</code></dt><dd><p>${renderInline(each.description)}</p></dd></div>`,
  )}</dl>
</section>
${renderErrors(contract)}
<section id="headers" class="prose" aria-labelledby="headers-title">
<h2 id="headers-title">Response headers</h2>
<dl class="fields">${headers.map(
    ({ name, description }) =>
      html`<div><dt><code>${name}</code></dt><dd><p>${renderInline(description)}</p></dd></div>`,
  )}</dl>
</section>`;
}

function renderErrors({ errors, schemas }: Contract): Html {
  const fields = fieldsOf(schemas.named("Error")).filter(({ name }) => name !== "code");
  return html`<section id="errors" aria-labelledby="errors-title">
<div class="facts">
<h2 id="errors-title">Errors</h2>
<p>Each operation lists which of these errors it can return, with examples.</p>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
<tbody>${errors.map(
    ({ status, code, meaning }) =>
      html`<tr><td>${status}</td><th scope="row"><code>${code}</code></th><td>${renderInline(meaning)}</td></tr>`,
  )}</tbody>
</table>
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

function renderTag({ name, description, operations }: Tag, schemas: Schemas): Html {
  const anchor = anchorOf(name);
  return html`<section id="${anchor}" aria-labelledby="${anchor}-title">
<h2 id="${anchor}-title">${name}</h2>
${renderParagraphs(description)}
${operations.map((operation) => renderOperation(operation, schemas))}
</section>`;
}

function renderSchema(name: string, schemas: Schemas): Html {
  const { name: _, ...shape } = schemas.named(name);
  return html`<article id="schema-${name}" class="prose" aria-labelledby="schema-${name}-title">
<h3 id="schema-${name}-title"><a href="#schema-${name}">${name}</a></h3>
<p>${renderInline(shape.description ?? "")}
${shape.properties ? "" : html`<span class="type">${renderType(shape, schemas)}</span>`}</p>
${renderLimits(shape, schemas)}${renderInnerFields(shape, { schemas, labeled: "optional" })}
</article>`;
}

function anchorOf(name: string): string {
  return `tag-${name.toLowerCase().replaceAll(/\W+/g, "-")}`;
}
