import { html, raw } from "hono/html";
import { GUIDES, type Guide } from "./generated/guides.ts";
import { GUIDE_FILES } from "./guide-list.ts";
import type { Html } from "./markdown.ts";

/** The guide that explains the operations of a tag, if one does. */
export function guideOfTag(tag: string): Guide | undefined {
  const found = GUIDE_FILES.find(({ tags }) => tags.some((each) => each === tag));
  return GUIDES.find(({ slug }) => slug === found?.slug);
}

/** `npm run docs:guides` has escaped what its Markdown has of HTML. */
export function renderGuide({ html: content }: Guide): Html {
  return html`<article class="guide">${raw(content)}</article>`;
}
