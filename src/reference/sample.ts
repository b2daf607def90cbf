import { html } from "hono/html";
import type { Html } from "./markdown.ts";

/**
 * A block of code that scrolls inside itself, also by keyboard. `label` tells it from the others.
 */
export function renderSample(title: string, label: string, code: Html | Html[] | string): Html {
  return html`<figure><figcaption>${title}</figcaption>
<pre tabindex="0" role="group" aria-label="${label}"><code>${code}</code></pre></figure>`;
}

/** A value as indented JSON, whose keys and literals can be told apart. */
export function renderJson(value: unknown): Html[] {
  const tokens = JSON.stringify(value, null, 2).split(/("(?:[^"\\]|\\.)*")/);
  return tokens.map((token, index) => {
    if (!token.startsWith('"')) return html`${token}`;
    const isKey = tokens[index + 1]?.startsWith(":");
    return isKey ? html`<b>${token}</b>` : html`<i>${token}</i>`;
  });
}
