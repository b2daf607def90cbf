/** Stands for the parts of a URL that are not shown. Valid in a host name and in a path. */
export const MASK = "***";

/**
 * Only the scheme, the host without its first label, and the port: subdomains, paths and queries may
 * contain tokens. Idempotent.
 */
export function maskUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.protocol}//${maskHost(parsed.host)}/${MASK}` : MASK;
}

/** `host` is that of a parsed URL, with or without its port. */
export function maskHost(host: string): string {
  const [, ...parents] = host.split(".");
  // The label after a trailing dot is empty.
  const isSubdomain = parents.filter(Boolean).length >= 2;
  return isSubdomain && !isAddress(host) ? [MASK, ...parents].join(".") : host;
}

/** Whether the URL is one that the service has shown instead of the real one. */
export function isMasked({ hostname, pathname }: URL): boolean {
  return hostname.includes(MASK) || pathname === `/${MASK}`;
}

/** The URL parser has normalized every notation of an IPv4 address to dotted decimal. */
function isAddress(host: string): boolean {
  return host.startsWith("[") || /^\d+(\.\d+){3}(:\d+)?$/.test(host);
}
