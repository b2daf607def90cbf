import { signal } from "@preact/signals";

export const ROOT = "/console/";

/** The current URL. */
export const currentUrl = signal(new URL(location.href));

export type Params = Readonly<Record<string, string>>;

/** The parameters of `path` if it fits a pattern such as `projects/:project_id`. */
export function matchPath(pattern: string, path: string): Params | undefined {
  const expected = pattern.split("/");
  const given = path.split("/").filter(Boolean);
  if (pattern === "") return given.length === 0 ? {} : undefined;
  if (expected.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of expected.entries()) {
    const value = given[at] ?? "";
    if (part.startsWith(":")) params[part.slice(1)] = value;
    else if (part !== value) return undefined;
  }
  return params;
}

/** The path below the root of the console. */
export function pathOf(url: URL): string {
  return url.pathname.slice(ROOT.length);
}

/** Shows another page. `replace` leaves no entry in the history. */
export function navigate(to: string, { replace = false } = {}): void {
  const url = new URL(to, location.href);
  const isSamePage = url.pathname === location.pathname;
  history[replace ? "replaceState" : "pushState"](null, "", url);
  currentUrl.value = url;
  if (!isSamePage) window.scrollTo(0, 0);
}

/** A filter or a choice of the page, in the query of its URL. Empty: without it. */
export function setQuery(values: Readonly<Record<string, string>>): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(values)) {
    if (value === "") url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  navigate(url.href, { replace: true });
}

export function queryOf(name: string): string {
  return currentUrl.value.searchParams.get(name) ?? "";
}

/** Follows links of the console without loading the document again. */
export function startRouter(): void {
  window.addEventListener("popstate", () => {
    currentUrl.value = new URL(location.href);
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.hasAttribute("download")) return;
    const url = new URL(link.href);
    const isPage = url.origin === location.origin && url.pathname.startsWith(ROOT);
    const isSamePage = url.pathname === location.pathname && url.search === location.search;
    const isFragment = url.hash !== "" && isSamePage;
    if (!isPage || isFragment) return;
    event.preventDefault();
    navigate(url.href);
  });
}
