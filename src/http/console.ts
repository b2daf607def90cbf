import { NotFound } from "../lib/errors.ts";

/** Where people continue after they sign in. */
export const CONSOLE_PATH = "/console/";

const ASSETS = `${CONSOLE_PATH}assets/`;

/** Only the console's own files run, and they reach this origin only. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function isConsolePath(path: string): boolean {
  return path === CONSOLE_PATH.slice(0, -1) || path.startsWith(CONSOLE_PATH);
}

/**
 * Serves the console, whose files are those of another Worker. Every path that is no file is a page of the
 * console, which one document shows.
 */
export async function serveConsole(request: Request, path: string, files: Fetcher | undefined) {
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead || !files) throw new NotFound("path");
  const isAsset = path.startsWith(ASSETS);
  const url = new URL(isAsset ? path : CONSOLE_PATH, request.url);
  const file = await files.fetch(url, { method: request.method, headers: conditionsOf(request) });
  if (!file.ok && file.status !== 304) {
    await file.body?.cancel();
    throw new NotFound("path");
  }
  const headers = new Headers(file.headers);
  headers.set("cache-control", isAsset ? "public, max-age=31536000, immutable" : "no-cache");
  headers.set("content-security-policy", CONTENT_SECURITY_POLICY);
  headers.set("referrer-policy", "same-origin");
  return new Response(file.body, { status: file.status, headers });
}

/** The other Worker gets no cookie and no key. */
function conditionsOf({ headers }: Request): Record<string, string> {
  const tag = headers.get("if-none-match");
  return tag === null ? {} : { "if-none-match": tag };
}
