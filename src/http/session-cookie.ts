import { isLoopback } from "../lib/origins.ts";

/**
 * The name of the cookie with a session. At http only for loopback hosts, where cookies ignore the port,
 * so the name has it. Undefined: the URL has no sessions.
 */
export function sessionCookieName(requestUrl: string): string | undefined {
  const { protocol, hostname, port } = new URL(requestUrl);
  // A browser takes a cookie of this name only from this exact host, over https.
  if (protocol === "https:") return "__Host-longshore";
  return isLoopback(hostname) ? `longshore-${port || "80"}` : undefined;
}

export function hasSessionCookie(request: Request): boolean {
  return sessionCookiesOf(request).length > 0;
}

/**
 * Empty if there is none, or several: another host of the domain or another port may have set one, and
 * a request does not tell which.
 */
export function readSessionCookie(request: Request): string {
  const [only = "", ...others] = sessionCookiesOf(request);
  return others.length === 0 ? only : "";
}

/** @throws Error if the URL has no sessions. */
export function sessionCookie(requestUrl: string, value: string, maxAgeSeconds: number): string {
  const name = sessionCookieName(requestUrl);
  if (name === undefined) throw new Error("This URL has no sessions");
  const secure = name.startsWith("__Host-") ? "; Secure" : "";
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}${secure}; HttpOnly; SameSite=Lax`;
}

function sessionCookiesOf(request: Request): string[] {
  const name = sessionCookieName(request.url);
  if (name === undefined) return [];
  const pairs = (request.headers.get("cookie") ?? "").split(";");
  // `trim` would also remove other white space, with which a subdomain can imitate the name.
  const cookies = pairs.map((pair) => pair.replace(/^[ \t]+|[ \t]+$/g, ""));
  return cookies
    .filter((cookie) => cookie.startsWith(`${name}=`))
    .map((cookie) => cookie.slice(name.length + 1));
}
