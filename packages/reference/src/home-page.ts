import { html, raw } from "hono/html";
import { ICON } from "../../../src/http/html-page.ts";
import { REPOSITORY_URL } from "../../../src/lib/addresses.ts";
import { linkToOperation } from "./links.ts";
import { HOME_STYLE } from "./style.ts";

/** The page at `/` for clients such as curl. Browsers are redirected to the console. */
export function renderHome(): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Longshore</title>
<link rel="icon" href="${ICON}">
<style>${raw(HOME_STYLE)}</style>
</head>
<body>
<main>
<h1>Longshore</h1>
<p>This is the API of Longshore, the control plane of a deployment platform: projects, environments,
encrypted variables, deployments, the runners that execute them, and notifications.</p>
<dl>
<dt><a href="/docs">Reference</a></dt>
<dd>Every operation, with examples. Also as an <a href="/openapi.json">OpenAPI document</a>.</dd>
<dt><a href="/health">Health</a></dt>
<dd>Whether this installation works, and what it lacks.</dd>
<dt><a href="${REPOSITORY_URL}">Source</a></dt>
<dd>How to start, a tour, and how to deploy your own installation.</dd>
</dl>
<p>Requests need an API key in the header <code>x-api-key</code>. A new installation has none:
<a href="${linkToOperation("Service", "bootstrap")}"><code>POST /v1/bootstrap</code></a> creates the first one.</p>
</main>
</body>
</html>`;
  // Hono returns a promise only if the page contains one, and it contains none.
  return page.toString();
}
