import { html } from "hono/html";
import { CONSOLE_PATH } from "../../../http/assets.ts";
import { renderMinute } from "../../../http/html-page.ts";
import { createNarrowPages } from "../../../http/narrow-page.ts";
import type { ApiError } from "../../../lib/errors.ts";
import { durationOf } from "../../../lib/quantities.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import { SIGN_IN_LINK_TTL_MS } from "./model.ts";

// No referrer has the page's path. With `no-referrer`, the `Origin` of the form would be null, and browsers
// without fetch metadata could not sign in.
const pages = createNarrowPages({ referrerPolicy: "strict-origin" });

export const pageHeaders = pages.headers;

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
  return pages.render(
    `Sign in to ${organizationName}`,
    html`<p>This link signs in to the organization <strong>${organizationName}</strong> as
<strong>${accountName}</strong>, with what the API key <strong>${keyName}</strong> may do (role
<strong>${role}</strong>). The link is valid until ${renderMinute(expiresAt)}, and works once.</p>
<p>Continue only if you created the link, or know who sent it.</p>
<form method="post"><button>Sign in</button></form>`,
  );
}

/** For a link that was used, has expired, or never worked: the page tells nothing about the reason. */
export function renderInvalidLink() {
  return pages.render(
    "This link no longer works",
    html`<p>A sign-in link works once, within ${durationOf(SIGN_IN_LINK_TTL_MS)}. This one was used or has expired, its
API key was revoked, or a part of it is missing.</p>
<p>To get a new one, run this in a terminal:</p>
<p><code>longshore console</code></p>
<p>Did somebody send you the link? Ask them for a new one. You can also
<a href="${CONSOLE_PATH}">sign in another way</a>.</p>`,
  );
}

export function renderRefusal({ message }: ApiError) {
  return pages.render("You are not signed in", html`<p>${message}</p>`);
}
