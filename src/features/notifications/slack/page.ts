import { html } from "hono/html";

/** The page needs no script, style or other resource. */
export const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

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
