import { html, raw } from "hono/html";
import { ICON } from "../../../src/http/html-page.ts";
import { OVERVIEW_PATH, SCRIPT_PATH } from "./links.ts";
import type { Html } from "./markdown.ts";
import { renderMethod } from "./operation.ts";
import type { Page } from "./pages.ts";
import { STYLE } from "./style.ts";

const GROUPS = ["Overview", "Guides", "Reference"] as const;

interface PageFrame {
  /** The name of the API. */
  title: string;
  /** All pages, for the contents. */
  pages: readonly Page[];
  /** Changes with the script. */
  scriptHash: string;
}

/** A page with the contents of all pages. Complete without its script. */
export function renderPage({ title, pages, scriptHash }: PageFrame, page: Page): string {
  const contents = renderContents(pages, page);
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${titleOf(page)} · ${title} API</title>
<link rel="icon" href="${ICON}">
<style>${raw(STYLE)}</style>
<script src="${SCRIPT_PATH}?v=${scriptHash}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="side">
<p class="brand"><a href="${OVERVIEW_PATH}">${title}</a> <span>API</span></p>
<div id="search" hidden></div>
<nav id="contents" aria-label="Contents">${contents}</nav>
<details><summary>Contents</summary>
<nav id="menu" aria-label="Contents">${contents}</nav></details>
<a class="to-contents" href="#menu">Contents</a>
</header>
<main id="main" tabindex="-1">
${page.render()}
${renderNeighbors(pages, page)}
<footer><p>Also available as an <a href="/openapi.json">OpenAPI 3.1 document</a>.</p></footer>
</main>
</body>
</html>`;
  // Hono returns a promise only if the page contains one, and it contains none.
  return text.toString();
}

/** A guide and a page of operations may have the same name. */
function titleOf({ title, group }: Page): string {
  return group === "Guides" ? `${title} (guide)` : title;
}

function renderContents(pages: readonly Page[], current: Page): Html[] {
  return GROUPS.map((group) => {
    const members = pages.filter((page) => page.group === group);
    if (members.length === 0) return html``;
    return html`${group === "Overview" ? "" : html`<p>${group}</p>`}
<ul>${members.map((page) => renderEntry(page, page === current))}</ul>`;
  });
}

function renderEntry({ path, title, sections }: Page, isCurrent: boolean): Html {
  if (!isCurrent) return html`<li><a href="${path}">${title}</a></li>`;
  return html`<li><a href="${path}" aria-current="page">${title}</a>
<ul>${sections.map(
    ({ id, title: name, method }) =>
      html`<li><a href="${path}#${id}">${method ? renderMethod(method) : ""}<span>${name}</span></a></li>`,
  )}</ul></li>`;
}

function renderNeighbors(pages: readonly Page[], current: Page): Html {
  const at = pages.indexOf(current);
  if (at < 0) return html``;
  const previous = pages[at - 1];
  const next = pages[at + 1];
  return html`<p class="pages">
${previous ? html`<a rel="prev" href="${previous.path}">← ${previous.title}</a>` : html`<span></span>`}
${next ? html`<a rel="next" href="${next.path}">${next.title} →</a>` : ""}
</p>`;
}
