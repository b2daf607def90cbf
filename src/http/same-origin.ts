const SAFE_METHODS = /^(GET|HEAD|OPTIONS)$/;

/**
 * For a request whose authority is a cookie or the URL of a page. A page of another port or of a
 * subdomain is `same-site`, and its requests have the cookie.
 */
export function isSameOrigin({ headers, url }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  return site === null ? headers.get("origin") === new URL(url).origin : site === "same-origin";
}

/** For a request that needs no cookie, which a program may send without any of these headers. */
export function isFromAnotherOrigin(request: Request): boolean {
  const { headers } = request;
  const isFromBrowser = headers.has("sec-fetch-site") || headers.has("origin");
  return isFromBrowser && !isSameOrigin(request);
}

/** @param writes Whether the request writes although it is a GET, for which browsers may send no `Origin`. */
export function mayUseCookie(request: Request, writes: boolean): boolean {
  if (!SAFE_METHODS.test(request.method)) return isSameOrigin(request);
  const isFromAddressBar = request.headers.get("sec-fetch-site") === "none";
  return !writes || isFromAddressBar || !isFromAnotherOrigin(request);
}
