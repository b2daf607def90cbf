/**
 * A path on the origin to continue at, as the browser reads it. Undefined for anything else: another origin, also
 * one that is written as `//host` or `/\host`, and a path that leads to another sign-in.
 */
export function readReturnPath(text: string, origin: string): string | undefined {
  if (!text.startsWith("/")) return undefined;
  const url = URL.parse(text, origin);
  if (url?.origin !== origin || url.pathname.startsWith("//")) return undefined;
  return url.pathname + url.search + url.hash;
}
