import { html } from "hono/html";
import { NOT_FOUND_PATH } from "../../../src/http/page-files.ts";
import { OVERVIEW_PATH } from "./links.ts";
import type { Page } from "./pages.ts";

/** For a path below /docs that no page has. It is not in the contents. */
export const NOT_FOUND_PAGE: Page = {
  path: NOT_FOUND_PATH,
  title: "Page not found",
  group: "Reference",
  sections: [],
  render: () => html`<h1>Page not found</h1>
<p>The reference has no page at this address. Use the contents or the search, or start at the
<a href="${OVERVIEW_PATH}">overview</a>.</p>`,
};
