import { isLoopback } from "../lib/origins.ts";

/** What a cookie of this service is for. */
export type CookiePurpose = "longshore" | "longshore-sign-in" | "longshore-choice";

/**
 * The name of a cookie that only this exact host and port set. At http only for loopback hosts, where
 * cookies ignore the port, so the name has it. Undefined: the URL has no sessions.
 */
export function hostCookieName(requestUrl: string, purpose: CookiePurpose): string | undefined {
  const { protocol, hostname, port } = new URL(requestUrl);
  // A browser takes a cookie of this name only from this exact host, over https.
  if (protocol === "https:") return `__Host-${purpose}`;
  return isLoopback(hostname) ? `${purpose}-${port || "80"}` : undefined;
}

/**
 * Empty if there is none, or several: another host of the domain or another port may have set one of
 * them, and a request does not tell which.
 */
export function readHostCookie(request: Request, purpose: CookiePurpose): string {
  const [only = "", ...others] = hostCookiesOf(request, purpose);
  return others.length === 0 ? only : "";
}

/**
 * `Set-Cookie` for a cookie that scripts cannot read.
 * @throws Error if the URL has no sessions.
 */
export function hostCookie(
  requestUrl: string,
  purpose: CookiePurpose,
  { value, maxAgeSeconds }: { value: string; maxAgeSeconds: number },
): string {
  const name = hostCookieName(requestUrl, purpose);
  if (name === undefined) throw new Error("This URL has no sessions");
  const secure = name.startsWith("__Host-") ? "; Secure" : "";
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}${secure}; HttpOnly; SameSite=Lax`;
}

export function hostCookiesOf(request: Request, purpose: CookiePurpose): string[] {
  const name = hostCookieName(request.url, purpose);
  if (name === undefined) return [];
  const pairs = (request.headers.get("cookie") ?? "").split(";");
  // `trim` would also remove other white space, with which a subdomain can imitate the name.
  const cookies = pairs.map((pair) => pair.replace(/^[ \t]+|[ \t]+$/g, ""));
  return cookies
    .filter((cookie) => cookie.startsWith(`${name}=`))
    .map((cookie) => cookie.slice(name.length + 1));
}
