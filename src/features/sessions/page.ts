import { html, raw } from "hono/html";
import {
  contentSecurityPolicy,
  ICON,
  NARROW_LAYOUT,
  PAGE_STYLE,
  renderMinute,
} from "../../http/html-page.ts";
import type { OrgRole } from "../../lib/roles.ts";

const STYLE = `${PAGE_STYLE}${NARROW_LAYOUT}
button {
  font: inherit; font-weight: 600; cursor: pointer; padding: .625rem 1.25rem;
  color: var(--page); background: var(--accent); border: 0; border-radius: .375rem;
}`;

/**
 * In no cache, because the URL contains a credential. No referrer has its path. With `no-referrer`, the
 * `Origin` of the form would be null, and browsers without fetch metadata could not sign in.
 */
export async function pageHeaders(formAction: "none" | "self") {
  return {
    "cache-control": "no-store",
    "referrer-policy": "strict-origin",
    "content-security-policy": await contentSecurityPolicy(STYLE, { formAction }),
  };
}

interface OfferedSignIn {
  organizationName: string;
  accountName: string;
  keyName: string;
  role: OrgRole;
  expiresAt: number;
}

/** Its form sends a POST to the page's own URL, which signs in. */
export function renderSignIn(offered: OfferedSignIn) {
  const { organizationName, accountName, keyName, role, expiresAt } = offered;
  return renderPage(
    `Sign in to ${organizationName}`,
    html`<p>This link signs in to the organization <strong>${organizationName}</strong> as
<strong>${accountName}</strong>, with what the API key <strong>${keyName}</strong> may do (role
<strong>${role}</strong>). The link is valid until ${renderMinute(expiresAt)}, and works once.</p>
<p>Continue only if you created the link, or know who sent it.</p>
<form method="post"><button>Sign in</button></form>`,
  );
}

export function renderRefusal(message: string) {
  return renderPage("You are not signed in", html`<p>${message}</p>`);
}

function renderPage(title: string, content: ReturnType<typeof html>) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<style>${raw(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;
}
