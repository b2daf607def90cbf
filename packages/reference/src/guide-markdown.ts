import { posix } from "node:path";
import { Marked, type RendererObject, type Tokens } from "marked";
import { sourceUrl } from "../../../src/lib/addresses.ts";
import { GUIDE_FILES } from "./guide-list.ts";
import { pathOfGuide } from "./links.ts";

export interface Guide {
  slug: string;
  title: string;
  /** The headings of the second level. */
  sections: { id: string; title: string }[];
  html: string;
}

/** @throws If the Markdown has HTML or an image, which the pages do not allow. */
export function readGuide(
  { slug, title }: { slug: string; title: string },
  markdown: string,
): Guide {
  const headings: Heading[] = [];
  const renderer = createRenderer(slug, headings);
  const html = new Marked({ renderer }).parse(markdown, { async: false });
  if (headings[0]?.depth !== 1) throw new Error(`The guide ${slug} does not begin with a title.`);
  const sections = headings
    .filter(({ depth }) => depth === 2)
    .map(({ id, text }) => ({ id, title: text }));
  return { slug, title, sections, html };
}

interface Heading {
  id: string;
  text: string;
  depth: number;
}

/** Adds the headings to `headings`. */
function createRenderer(slug: string, headings: Heading[]): RendererObject {
  const anchors = new Anchors();
  let blocks = 0;
  return {
    heading({ tokens, depth }) {
      const text = plainText(tokens);
      const id = anchors.next(text);
      headings.push({ id, text, depth });
      const content = this.parser.parseInline(tokens);
      if (depth === 1) return `<h1 id="${id}">${content}</h1>\n`;
      return `<h${depth} id="${id}"><a href="#${id}">${content}</a></h${depth}>\n`;
    },
    link({ href, tokens }) {
      const target = escapeHtml(resolveLink(slug, href));
      return `<a href="${target}">${this.parser.parseInline(tokens)}</a>`;
    },
    code(token) {
      blocks += 1;
      return renderCode(token, blocks);
    },
    table(token) {
      return renderTable(token, (cell) => this.parser.parseInline(cell.tokens));
    },
    html: () => refuse(slug, "HTML"),
    image: () => refuse(slug, "an image"),
  };
}

function refuse(slug: string, what: string): never {
  throw new Error(`The guide ${slug} has ${what}, which the page would not show.`);
}

/** As GitHub makes them: https://github.com/Flet/github-slugger. */
class Anchors {
  readonly #used = new Map<string, number>();

  next(title: string): string {
    const plain = title.toLowerCase().replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, "");
    const id = plain.replaceAll(" ", "-");
    const uses = this.#used.get(id) ?? 0;
    this.#used.set(id, uses + 1);
    return uses === 0 ? id : `${id}-${uses}`;
  }
}

/** A guide has its own page; the other files of the repository are at GitHub. */
function resolveLink(slug: string, href: string): string {
  if (/^https?:/.test(href)) return href;
  if (/^[\w+.-]*:/.test(href)) refuse(slug, `the link ${href}`);
  const [path = "", fragment] = href.split("#");
  const suffix = fragment === undefined ? "" : `#${fragment}`;
  if (path === "") return suffix;
  const guide = GUIDE_FILES.find(({ file }) => file === path);
  if (guide) return pathOfGuide(guide.slug) + suffix;
  return `${sourceUrl(posix.join("docs", path))}${suffix}`;
}

/** `sh server` is the language, and the terminal for the test that runs the code. */
function renderCode({ text, lang = "" }: Tokens.Code, count: number): string {
  const [language = ""] = lang.split(" ");
  const label = `Code ${count}${language && `, ${language}`}`;
  return (
    `<figure class="sample"><figcaption>${escapeHtml(language || "text")}</figcaption>` +
    `<pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code>${escapeHtml(text)}</code></pre></figure>\n`
  );
}

function renderTable({ header, rows }: Tokens.Table, render: (cell: Tokens.TableCell) => string) {
  const head = header.map((cell) =>
    cell.text === "" ? "<td></td>" : `<th scope="col">${render(cell)}</th>`,
  );
  const body = rows.map(
    (row) => `<tr>${row.map((cell) => `<td>${render(cell)}</td>`).join("")}</tr>`,
  );
  const hasHead = header.some(({ text }) => text !== "");
  return (
    `<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n` +
    `${hasHead ? `<thead><tr>${head.join("")}</tr></thead>\n` : ""}<tbody>${body.join("\n")}</tbody>\n</table></div>\n`
  );
}

/** Of a heading, without its code and emphasis. */
function plainText(tokens: readonly Tokens.Generic[]): string {
  return tokens
    .map((each) => (each.tokens ? plainText(each.tokens) : (each["text"] ?? "")))
    .join("");
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
