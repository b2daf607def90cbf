import { html } from "hono/html";
import { slugOf } from "./links.ts";

export type Html = ReturnType<typeof html>;

/** Supports `**bold**` and `code` only: the document uses no other Markdown. */
export function renderParagraphs(markdown: string): Html[] {
  return markdown
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== "")
    .map((paragraph) => html`<p>${renderInline(paragraph)}</p>`);
}

/** Each paragraph that begins with a bold term has an anchor: `about-rate-limits`. */
export function renderTopics(markdown: string): Html[] {
  return markdown.split(/\n{2,}/).map((paragraph) => {
    const [, term] = /^\*\*([^*]+?)\.?\*\*/.exec(paragraph) ?? [];
    const text = renderInline(paragraph);
    return term ? html`<p id="about-${slugOf(term)}">${text}</p>` : html`<p>${text}</p>`;
  });
}

export function renderInline(markdown: string): (Html | string)[] {
  return markdown.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith("`") && part.length > 2) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.startsWith("**") && part.length > 4) {
      return html`<strong>${renderInline(part.slice(2, -2))}</strong>`;
    }
    return part;
  });
}
