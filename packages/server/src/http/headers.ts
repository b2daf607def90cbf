/** Headers of one connection, not of the request. Node sets those of the next connection. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** What says who sent the request, and to which address. The server itself knows both. */
const ORIGIN_OF_REQUEST =
  /^(?:host|forwarded|x-forwarded-.+|x-real-ip|x-client-ip|true-client-ip)$/;

/** Headers that belong to Cloudflare, to Miniflare, and to the server's own process. */
const INTERNAL = /^(?:cf|mf|longshore-server)-/;

/** `Exchange` sets it with the body. */
const LENGTH = "content-length";

/** What a client says about its request. Names and values alternate; the server adds what only it can know. */
export function headersOfClient(raw: readonly string[]): string[] {
  const isOwn = (name: string) =>
    ORIGIN_OF_REQUEST.test(name) || INTERNAL.test(name) || name === LENGTH;
  return filterHeaders(withoutHopByHop(raw), (name) => !isOwn(name));
}

/** The raw headers that are for the next connection, too. */
export function withoutHopByHop(raw: readonly string[]): string[] {
  const named = new Set<string>();
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== "connection") continue;
    for (const each of (raw[at + 1] ?? "").split(",")) named.add(each.trim().toLowerCase());
  }
  // A response without its length would be read up to the end of the connection.
  named.delete(LENGTH);
  return filterHeaders(raw, (name) => !HOP_BY_HOP.has(name) && !named.has(name));
}

function filterHeaders(raw: readonly string[], isKept: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const [name = "", value = ""] = raw.slice(at, at + 2);
    if (isKept(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
