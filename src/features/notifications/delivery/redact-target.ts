import { MASK, maskHost } from "../../../lib/mask-url.ts";

/** Shorter parts of a URL are rarely secret, and occur in most texts. */
export const PART_LENGTH = 6;

/** Endpoints often repeat the requested path in an error, and every member may read their responses. */
export function redactTarget(text: string, target: string): string {
  const url = new URL(target);
  const masked = text.replaceAll(url.host, maskHost(url.host));
  return partsOf(url).reduce((redacted, part) => redacted.replaceAll(part, MASK), masked);
}

/** As they are and decoded, the longest first. */
function partsOf({ host, pathname, search }: URL): string[] {
  const [subdomain = ""] = maskHost(host) === host ? [] : host.split(".");
  const whole = [pathname + search, pathname, search, search.replaceAll("&", "&amp;")];
  const pieces = [...pathname.split("/"), ...search.slice(1).split(/[&=]/), subdomain];
  const parts = [...whole, ...pieces].flatMap((part) => [part, decode(part)]);
  return [...new Set(parts)]
    .filter(({ length }) => length >= PART_LENGTH)
    .toSorted((a, b) => b.length - a.length);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
