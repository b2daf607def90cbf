import { html } from "hono/html";

/** Nothing but text: no script, no style, no other file. */
export const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

/** What whoever has connected Slack gets to see. */
export function renderConnected(projectName: string) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Slack is connected</title>
</head>
<body>
<h1>Slack is connected</h1>
<p>The channel that you chose hears about the project ${projectName} from now on. You can close this page.</p>
</body>
</html>
`;
}
