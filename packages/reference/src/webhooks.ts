import { html } from "hono/html";
import type { Parameter, Reply, Webhook } from "./contract.ts";
import { exampleOf, renderJson, renderSample } from "./example.ts";
import { fieldsOf, renderFields } from "./fields.ts";
import { WEBHOOKS_PATH } from "./links.ts";
import { type Html, renderInline, renderParagraphs } from "./markdown.ts";
import type { Schemas } from "./schemas.ts";

/** The headers and replies are the same for all webhooks, so they are shown once. */
export function renderWebhooks(
  { description, webhooks }: { description: string; webhooks: readonly Webhook[] },
  schemas: Schemas,
): Html {
  const [first] = webhooks;
  if (!first) return html``;
  return html`<section aria-labelledby="webhooks-title">
<h1 id="webhooks-title">Webhooks</h1>
${renderParagraphs(description)}
<div class="prose">
<h2>Headers of a webhook</h2>
${renderHeaders(first.headers, schemas)}
<h2>Meaning of the response</h2>
${renderReplies(first.replies)}
</div>
${webhooks.map((webhook) => renderWebhook(webhook, schemas))}
</section>`;
}

export function anchorOfWebhook({ type }: Webhook): string {
  return `webhook-${type.replaceAll(/\W+/g, "-")}`;
}

function renderHeaders(headers: readonly Parameter[], schemas: Schemas): Html {
  const fields = headers.map(({ name, description, schema = {} }) => {
    return { name, description, schema, required: true };
  });
  return renderFields(fields, { schemas, labeled: "optional" });
}

function renderReplies(replies: readonly Reply[]): Html {
  return html`<dl class="fields">${replies.map(
    ({ status, description }) =>
      html`<div><dt><code>${status === "default" ? "any other" : status}</code></dt>
<dd><p>${renderInline(description)}</p></dd></div>`,
  )}</dl>`;
}

function renderWebhook(webhook: Webhook, schemas: Schemas): Html {
  const { type, summary, description, body } = webhook;
  const anchor = anchorOfWebhook(webhook);
  return html`<article id="${anchor}" aria-labelledby="${anchor}-title">
<header>
<h2 id="${anchor}-title"><a href="${WEBHOOKS_PATH}#${anchor}">${summary}</a></h2>
<p class="endpoint"><code>${type}</code></p>
</header>
<div class="facts">
${renderParagraphs(description)}
<h3>Body</h3>
${renderFields(fieldsOf(schemas.resolve(body)), { schemas, labeled: "optional" })}
</div>
<div class="samples">
${renderSample("Webhook", `Body of: ${summary}`, renderJson(exampleOf(body, schemas)))}
</div>
</article>`;
}
