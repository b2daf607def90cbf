import { Client, type Reply } from "./client.ts";

export const capture = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, captured = ""]) => captured);

export const linksOf = (text: string) =>
  capture(text, /\shref="([^"]+)"/g).filter((link) => !link.startsWith("data:"));

export const anchorsOf = (text: string) => capture(text, /\sid="([^"]+)"/g);

export const articleOf = (text: string, id: string) => {
  const pattern = new RegExp(`<article id="${id}"([\\s\\S]*?)</article>`, "g");
  return capture(text, pattern);
};

export function unescapeHtml(text: string): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

export const textOf = (html: string) => unescapeHtml(html.replaceAll(/<[^>]+>/g, ""));

/** Every page that the contents of the first one lead to, by its path. */
export async function readPages(): Promise<Map<string, Reply>> {
  const client = new Client(undefined);
  const pages = new Map([["/docs", await client.get("/docs")]]);
  for (const text of [...pages.values()].map((each) => each.text)) {
    const paths = linksOf(text).map((link) => String(link.split("#")[0]));
    for (const path of new Set(paths.filter((each) => each.startsWith("/docs/")))) {
      pages.set(path, await client.get(path));
    }
  }
  return pages;
}
