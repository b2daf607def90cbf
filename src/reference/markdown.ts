import { html } from "hono/html";

export type Html = ReturnType<typeof html>;

/** Paragraphs of text with `**bold**` and `code` spans: all the markdown that the document uses. */
export function renderParagraphs(markdown: string): Html[] {
  return markdown
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== "")
    .map((paragraph) => html`<p>${renderInline(paragraph)}</p>`);
}

/** One run of text. Whatever is not a span is text, and escaped as such. */
export function renderInline(markdown: string): (Html | string)[] {
  return markdown.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith("`") && part.length > 2) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.startsWith("**") && part.length > 4) {
      return html`<strong>${renderInline(part.slice(2, -2))}</strong>`;
    }
    return part;
  });
}
