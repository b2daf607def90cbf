import { readFileSync } from "node:fs";
import { join } from "node:path";
import { GUIDE_FILES } from "../../packages/reference/src/guide-list.ts";
import { type Guide, readGuide } from "../../packages/reference/src/guide-markdown.ts";
import { renderHome } from "../../packages/reference/src/home-page.ts";
import { SCRIPT_PATH, SEARCH_INDEX_PATH } from "../../packages/reference/src/links.ts";
import { Site } from "../../packages/reference/src/site.ts";
import { NOT_FOUND_PATH } from "../../src/http/page-files.ts";
import { renderAssetHeaders } from "./asset-headers.ts";
import { readDocument } from "./document.ts";
import { buildReferenceScript } from "./reference-script.ts";
import { ROOT } from "./wrangler.ts";

/** All assets but those of the console, by their paths below the folder of the assets. */
export async function renderPageAssets(): Promise<ReadonlyMap<string, string | Buffer>> {
  const document = await readDocument();
  const script = await buildReferenceScript();
  const site = new Site({ document, guides: readGuides(), scriptHash: script.hash });
  const pages = site.pages.map((page): [string, string] => [
    `${page.path}.html`,
    site.render(page),
  ]);
  return new Map<string, string | Buffer>([
    // For browsers at a reply of the API, which has no page to name an icon.
    ["/favicon.ico", readFileSync(join(ROOT, "packages/reference/src/favicon.ico"))],
    ["/_headers", await renderAssetHeaders()],
    ["/index.html", renderHome()],
    ["/openapi.json", JSON.stringify(document)],
    [SCRIPT_PATH, script.text],
    [SEARCH_INDEX_PATH, site.renderSearchIndex()],
    [`${NOT_FOUND_PATH}.html`, site.renderNotFound()],
    ...pages,
  ]);
}

export function readGuides(): Guide[] {
  return GUIDE_FILES.map(({ slug, title, file }) => {
    return readGuide({ slug, title }, readFileSync(join(ROOT, "docs", file), "utf8"));
  });
}
