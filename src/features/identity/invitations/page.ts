import { html } from "hono/html";
import { renderMinute } from "../../../http/html-page.ts";
import { createNarrowPages } from "../../../http/narrow-page.ts";
import type { ApiError } from "../../../lib/errors.ts";
import type { OrgRole } from "../../../lib/roles.ts";

// The URL and the second page contain a credential.
const pages = createNarrowPages({
  referrerPolicy: "no-referrer",
  style: `
figure { margin: 0 0 1.5rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--raised); }
figcaption { font-size: .75rem; font-weight: 600; color: var(--soft); padding: .5rem 1rem; border-bottom: 1px solid var(--line); }
pre { margin: 0; padding: .875rem 1rem; white-space: pre-wrap; }
pre code { overflow-wrap: anywhere; }`,
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
  return html`<p>${hasSignIn ? "Or accept it without a sign-in: the" : "The"} next page shows an API key of your own. Have a
place ready to store it: it is not shown again.</p>
<form method="post"><button>Accept the invitation</button></form>`;
}

export function renderAccepted(organizationName: string, key: string, origin: string) {
  return pages.render(
    `You are a member of ${organizationName}`,
    html`<p>This is your API key. Store it now: it is not shown again, and the link no longer works.</p>
<figure><figcaption>API key</figcaption><pre tabindex="0"><code>${key}</code></pre></figure>
<p>Try it, and then set your name with <code>PATCH /v1/account</code>:</p>
<figure><figcaption>Who am I?</figcaption><pre tabindex="0"><code>curl "${origin}/v1/whoami" -H "x-api-key: $LONGSHORE_API_KEY"</code></pre></figure>
<p><a href="/docs">Every operation is in the reference.</a></p>`,
  );
}

export function renderRefusal({ message }: ApiError) {
  return pages.render("The invitation was not accepted", html`<p>${message}</p>`);
}
