export type Parameters = Readonly<Record<string, unknown>>;

/** Without a slash at the end. @throws TypeError if requests cannot be sent to it. */
export function readBaseUrl(text: string): string {
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError(`Give the URL of the API without credentials and query, not ${text}.`);
  }
  return url.href.replace(/\/+$/, "");
}

/** Replaces `{name}` in the path, and appends the query. Leaves undefined values out. */
export function renderPath(
  template: string,
  path: Parameters = {},
  query: Parameters = {},
): string {
  if (!template.startsWith("/")) throw new TypeError(`The path ${template} must begin with "/".`);
  const rendered = template.replaceAll(/\{(\w+)\}/g, (_, name) => toSegment(name, path[name]));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) search.append(name, String(each));
    }
  }
  if (search.size === 0) return rendered;
  return `${rendered}${rendered.includes("?") ? "&" : "?"}${search}`;
}

/** A segment of dots would be the path of another operation. */
function toSegment(name: string, value: unknown): string {
  const text = value === undefined ? "" : String(value);
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`The path needs ${name}, and not "${text}".`);
  return encodeURIComponent(text);
}
