/** How long caches may keep the pages and the OpenAPI document. */
export const CACHED_MS = 300_000;

/** The page for a path below /docs that has none. */
export const NOT_FOUND_PATH = "/docs/not-found";

/** Stands for the origin of the installation in the files of the reference. The top-level domain cannot exist. */
export const ORIGIN = "https://origin.invalid";

/** For a request whose own origin a shell or HTML could misread. */
const FALLBACK = "https://longshore.example.com";

/** Only names, IPv4 and IPv6 addresses: a host in a URL may also have quotes, `$` and parentheses. */
const PLAIN_ORIGIN = /^https?:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d+)?$/;

export function withOrigin(text: string, url: string): string {
  const { origin } = new URL(url);
  return text.replaceAll(ORIGIN, PLAIN_ORIGIN.test(origin) ? origin : FALLBACK);
}
