import { html } from "hono/html";
import { CONSOLE_PATH } from "../../../http/assets.ts";
import { renderMinute } from "../../../http/html-page.ts";
import { createNarrowPages } from "../../../http/narrow-page.ts";
import { RUN_CLI } from "../../../lib/addresses.ts";
import type { ApiError } from "../../../lib/errors.ts";
import { durationOf } from "../../../lib/quantities.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import { SESSION_TTL_MS } from "../sessions/index.ts";

// The URL and the second page contain a credential.
const pages = createNarrowPages({
  referrerPolicy: "no-referrer",
  style: `
figure { margin: 0 0 1.5rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--raised); }
figcaption { font-size: .75rem; font-weight: 600; color: var(--soft); padding: .5rem 1rem; border-bottom: 1px solid var(--line); }
pre { margin: 0; padding: .875rem 1rem; white-space: pre-wrap; }
pre code { overflow-wrap: anywhere; }
summary { cursor: pointer; margin-bottom: 1rem; }`,
});

export const pageHeaders = pages.headers;

interface OfferedInvitation {
  organizationName: string;
  role: OrgRole;
  expiresAt: number;
}

interface WaysToAccept {
  /** Whether the link alone accepts it. */
  byLink: boolean;
  /** The path of a sign-in that accepts it. Undefined: there is no identity provider. */
  signInPath: string | undefined;
}

/** Its form sends a POST to the page's own URL, which accepts the invitation. */
export function renderOffer(
  { organizationName, role, expiresAt }: OfferedInvitation,
  { byLink, signInPath }: WaysToAccept,
) {
  return pages.render(
    `Join ${organizationName}`,
    html`<p>You are invited to the organization <strong>${organizationName}</strong> with the role
<strong>${role}</strong>. The invitation is valid until ${renderMinute(expiresAt)}, and can be accepted once.</p>
${signInPath && html`<p><a class="button" href="${signInPath}">Sign in with the invited address</a></p>`}
${byLink && renderForm(signInPath !== undefined)}`,
  );
}

function renderForm(hasSignIn: boolean) {
  return html`<p>${hasSignIn ? "Or accept it without a sign-in: the" : "The"} next page signs this browser in, and has an
API key of your own, which is not shown again.</p>
<form method="post"><button>Accept the invitation</button></form>`;
}

interface Joined {
  organizationName: string;
  /** Undefined: nobody has given the person a name. */
  name: string | undefined;
  role: OrgRole;
  key: string;
  origin: string;
}

/** The welcome page: it leads to the console, and keeps the key in reach for the command line. */
export function renderSignedIn(joined: Joined, { hasSignIn }: { hasSignIn: boolean }) {
  const { organizationName, name, role } = joined;
  return pages.render(
    `Welcome, ${name ?? "new member"}`,
    html`<p>You are a member of <strong>${organizationName}</strong> with the role <strong>${role}</strong>, and signed in
here for ${durationOf(SESSION_TTL_MS)}. After that, sign in with ${hasSignIn ? "the invited address" : "your API key, which is below"}.</p>
<p><a class="button" href="${CONSOLE_PATH}">Continue to the console</a></p>
<details><summary>I also use the command line</summary>
${renderKey(joined)}
</details>`,
  );
}

/** For a request that starts no session, such as one of a program. */
export function renderAccepted(joined: Joined) {
  const { organizationName } = joined;
  return pages.render(
    `You are a member of ${organizationName}`,
    html`${renderKey(joined)}
<p><a href="${CONSOLE_PATH}">Sign in to the console with it</a></p>`,
  );
}

function renderKey({ name, key, origin }: Joined) {
  return html`<p>This is your API key. Store it now: it is not shown again, and the link no longer works. It also signs in
to the console.</p>
<figure><figcaption>API key</figcaption><pre tabindex="0"><code>${key}</code></pre></figure>
<p>The command line asks for it:</p>
<figure><figcaption>Log in</figcaption><pre tabindex="0"><code>${RUN_CLI} login --url ${origin}</code></pre></figure>
${name === undefined && html`<p>Set your name with <code>PATCH /v1/account</code>.</p>`}
<p><a href="/docs">Every operation is in the reference.</a></p>`;
}

export function renderRefusal({ message }: ApiError) {
  return pages.render("The invitation was not accepted", html`<p>${message}</p>`);
}
