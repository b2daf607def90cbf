import { html, raw } from "hono/html";
import type { Guide } from "./guide-markdown.ts";
import type { Html } from "./markdown.ts";

/** Its Markdown has no HTML: `readGuide` refuses it. */
export function renderGuide({ html: content }: Guide): Html {
  return html`<article class="guide">${raw(content)}</article>`;
}
