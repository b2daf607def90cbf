import type { Context } from "hono";
import { MethodNotImplemented, NotFound } from "../lib/errors.ts";
import { NOT_FOUND_PATH, withOrigin } from "./page-files.ts";
import type { AppEnv } from "./request-context.ts";

/** Where people continue after they sign in. */
export const CONSOLE_PATH = "/console/";

const CONSOLE_FILES = `${CONSOLE_PATH}assets/`;
const REFERENCE_PATH = "/docs";

/** What the build has set for a file (`scripts/lib/asset-headers.ts`). The request pipeline sets the others. */
const FILE_HEADERS = [
  "cache-control",
  "content-security-policy",
  "content-type",
  "etag",
  "referrer-policy",
];

/** The paths of the pages for people, whose files are static assets. */
export const PAGE_PATHS = ["/", "/console/*", `${REFERENCE_PATH}/*`];

function isConsolePath(path: string): boolean {
  return isWithin(CONSOLE_PATH.slice(0, -1), path);
}

function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

/** Serves the home page, the reference with the origin of this installation, and the document of the console. */
export async function servePage(c: Context<AppEnv>): Promise<Response> {
  const { request, env, path, requestLog, deps } = c.env.context;
  await deps.limitAddress(c.env.context);
  requestLog.route = patternOf(path);
  if (isConsolePath(path)) return serveConsole(request, path, env.ASSETS);
  if (!isRead(request)) throw new MethodNotImplemented(request.method, ["GET", "HEAD"]);
  if (path !== "/") return serveDocument(request, path, env.ASSETS);
  // Browsers get the console, and other clients the home page.
  const isBrowser = c.req.header("accept")?.includes("text/html");
  const response = isBrowser
    ? c.redirect(CONSOLE_PATH)
    : await serveDocument(request, path, env.ASSETS);
  response.headers.set("vary", "Accept");
  return response;
}

async function serveDocument(request: Request, path: string, assets: Fetcher): Promise<Response> {
  const page = path !== NOT_FOUND_PATH && (await readAsset(assets, request, path));
  if (page) return fillIn(page, request);
  const { url, method } = request;
  const notFound = await readAsset(assets, new Request(url, { method }), NOT_FOUND_PATH);
  if (!notFound) throw new NotFound("page");
  const { body, headers } = await fillIn(notFound, request);
  headers.delete("etag");
  headers.delete("cache-control");
  return new Response(body, { status: 404, headers });
}

/** For the log: the path of a page of the console has IDs. */
function patternOf(path: string): string {
  if (path === "/") return path;
  return isConsolePath(path) ? `${CONSOLE_PATH}*` : `${REFERENCE_PATH}/*`;
}

/** Every path of the console that is no file is one of its pages, which one document shows. */
async function serveConsole(request: Request, path: string, assets: Fetcher): Promise<Response> {
  const isPage = isRead(request) && !path.startsWith(CONSOLE_FILES);
  const document = isPage && (await readAsset(assets, request, CONSOLE_PATH));
  if (!document) throw new NotFound("path");
  return document;
}

function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

async function fillIn(page: Response, { url }: Request): Promise<Response> {
  const isHtml = page.headers.get("content-type")?.startsWith("text/html");
  if (!isHtml || page.body === null) return page;
  return new Response(withOrigin(await page.text(), url), page);
}

/**
 * A static asset, or 304. Undefined: there is no such file, or this Worker runs without its files. The asset
 * router gets no cookie and no key.
 */
export async function readAsset(
  assets: Fetcher | undefined,
  { url, method, headers }: Request,
  path: string,
): Promise<Response | undefined> {
  const tag = headers.get("if-none-match");
  const file = await assets?.fetch(new URL(encodeURI(path), url), {
    method,
    // The asset router redirects from other spellings of a path, such as with `.html`.
    redirect: "manual",
    headers: tag === null ? {} : { "if-none-match": tag },
  });
  if (file?.status === 200 || file?.status === 304) {
    const kept = [...file.headers].filter(([name]) => FILE_HEADERS.includes(name));
    return new Response(file.body, { status: file.status, headers: kept });
  }
  await file?.body?.cancel();
  return undefined;
}
