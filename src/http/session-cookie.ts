import { hostCookie, hostCookieName, hostCookiesOf, readHostCookie } from "./host-cookie.ts";

const SESSION = "longshore";

/** Undefined: the URL has no sessions. */
export function sessionCookieName(requestUrl: string): string | undefined {
  return hostCookieName(requestUrl, SESSION);
}

export function hasSessionCookie(request: Request): boolean {
  return hostCookiesOf(request, SESSION).length > 0;
}

/** Empty if there is none, or several. */
export function readSessionCookie(request: Request): string {
  return readHostCookie(request, SESSION);
}

/** @throws Error if the URL has no sessions. */
export function sessionCookie(requestUrl: string, value: string, maxAgeSeconds: number): string {
  return hostCookie(requestUrl, SESSION, { value, maxAgeSeconds });
}
