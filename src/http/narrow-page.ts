import type { Context } from "hono";
import { html, raw } from "hono/html";
import { ApiError } from "../lib/errors.ts";
import { contentSecurityPolicy, ICON, NARROW_LAYOUT, PAGE_STYLE } from "./html-page.ts";
import type { FeatureMiddleware } from "./request-context.ts";

const BUTTONS = `
.button { display: inline-block; text-decoration: none; }
button, .button {
  font: inherit; font-weight: 600; cursor: pointer; padding: .625rem 1.25rem;
  color: var(--page); background: var(--accent); border: 0; border-radius: .375rem;
}`;

type Html = ReturnType<typeof html>;

/** Pages with one narrow column whose URL or content is a credential: no cache stores them. */
export function createNarrowPages(options: { style?: string; referrerPolicy: string }) {
  const style = `${PAGE_STYLE}${NARROW_LAYOUT}${BUTTONS}${options.style ?? ""}`;
  return {
    /** `formAction`: where the forms of the page go to. */
    headers: async (formAction: "none" | "self") => ({
      "cache-control": "no-store",
      "referrer-policy": options.referrerPolicy,
      "content-security-policy": await contentSecurityPolicy(style, { formAction }),
    }),
    render: (title: string, content: Html) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<style>${raw(style)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`,
  };
}

interface ErrorPage {
  render: (error: ApiError) => Html;
  headers: (c: Context) => Promise<Record<string, string>>;
}

/** Shows errors as a page instead of JSON, if `Accept` has `text/html`. */
export function showErrorsAs({ render, headers }: ErrorPage): FeatureMiddleware {
  return async (c, next) => {
    try {
      return await next();
    } catch (error) {
      const wantsPage = c.req.header("accept")?.includes("text/html");
      if (!(error instanceof ApiError) || !wantsPage) throw error;
      return c.html(render(error), error.status, await headers(c));
    }
  };
}
