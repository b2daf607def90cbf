import { html } from "hono/html";
import { durationOf } from "../../../lib/quantities.ts";
import { CONFIRMATION_TTL_MS } from "../integrations/index.ts";
import type { Installation } from "./install.ts";

/** The page needs no script, style or other resource. */
export const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

export function renderInstalled({ projectName, projectId, integrationId, origin }: Installation) {
  const url = `${origin}/v1/projects/${projectId}/notification-integrations/${integrationId}`;
  const key = '-H "x-api-key: $LONGSHORE_API_KEY"';
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Slack is installed</title>
</head>
<body>
<h1>Slack is installed: an owner has to confirm it</h1>
<p>Nothing is sent to the channel that you chose until an owner of the project ${projectName} confirms it, within ${durationOf(CONFIRMATION_TTL_MS)}. Otherwise the installation is deleted.</p>
<ol>
<li><p>Read the installation, and compare the workspace and the channel in <code>slack</code>:</p>
<pre><code>curl "${url}" ${key}</code></pre></li>
<li><p>If they are the right ones, confirm:</p>
<pre><code>curl -X POST "${url}/confirm" ${key}</code></pre></li>
</ol>
<p>If they are not, send a DELETE instead. You can close this page.</p>
</body>
</html>
`;
}
