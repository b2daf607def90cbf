import { html } from "hono/html";
import { renderMinute } from "../../../http/html-page.ts";
import { createNarrowPages } from "../../../http/narrow-page.ts";
import type { ApiError } from "../../../lib/errors.ts";
import type { OrgRole } from "../../../lib/roles.ts";
import { SIGN_IN_PATH } from "../sessions/index.ts";
import { CHOICES_PATH } from "./model.ts";

// With `no-referrer`, the `Origin` of the forms would be null, and browsers without fetch metadata could not
// sign in.
const pages = createNarrowPages({
  referrerPolicy: "strict-origin",
  style: `
h2 { font-size: 1.25rem; margin-top: 2rem; }
li { border-top: 1px solid var(--line); padding: 1rem 0; }
h3 { font-size: 1rem; overflow-wrap: anywhere; }
li p { margin: 0 0 .75rem; color: var(--soft); font-size: .9375rem; }
li form { display: inline-block; margin-right: .5rem; }
.tag { font-size: .75rem; font-weight: 600; color: var(--accent); }
.plain { color: var(--accent); background: none; box-shadow: inset 0 0 0 1px var(--line); }`,
});

export const pageHeaders = pages.headers;

/** A membership or an invitation of the address. */
interface Choice {
  organizationId: string;
  organizationName: string;
  role: OrgRole;
  isAccepted: boolean;
  signedInAt: number | null;
  /** Null: not known. */
  inviterName: string | null;
  createdAt: number;
  /** Null: a membership. */
  expiresAt: number | null;
}

interface ShownChoices {
  email: string;
  rows: readonly Choice[];
  /** Undefined on the last page. */
  next: string | undefined;
  isFirstPage: boolean;
}

/** Each form sends a POST that signs in to one organization, or declines it. */
export function renderChoices({ email, rows, next, isFirstPage }: ShownChoices) {
  const accepted = rows.filter(({ isAccepted }) => isAccepted);
  const open = rows.filter(({ isAccepted }) => !isAccepted);
  const isLastUsed = (choice: Choice) =>
    isFirstPage && choice === rows[0] && choice.signedInAt !== null;
  return pages.render(
    "Choose an organization",
    html`<p>You have proven that <strong>${email}</strong> is your address.</p>
${
  accepted.length > 0 &&
  html`<h2>Your organizations</h2>
<ul>${accepted.map((choice) => renderAccepted(choice, isLastUsed(choice)))}</ul>`
}
${
  open.length > 0 &&
  html`<h2>Invitations</h2>
<p>Accept only what you expect: whoever creates an organization chooses its name.</p>
<ul>${open.map(renderOpen)}</ul>`
}
${next && html`<p><a href="${CHOICES_PATH}?${new URLSearchParams({ after: next })}">Show more</a></p>`}
${!isFirstPage && renderBack("Back to the first ones")}`,
  );
}

function renderAccepted(choice: Choice, isLastUsed: boolean) {
  const { organizationId, role, signedInAt } = choice;
  return html`<li><h3 id="${organizationId}"><bdi>${choice.organizationName}</bdi>
${isLastUsed && html`<span class="tag">Used last</span>`}</h3>
<p>Your role is ${role}. ${signedInAt !== null && html`Last sign-in: ${renderMinute(signedInAt)}.`}</p>
${renderForm(organizationId, "Sign in")}</li>
`;
}

function renderOpen(choice: Choice) {
  const { organizationId, role, createdAt, expiresAt, inviterName } = choice;
  const verb = expiresAt === null ? "added you" : "invited you";
  return html`<li><h3 id="${organizationId}"><bdi>${choice.organizationName}</bdi></h3>
<p>${inviterName === null ? "An administrator" : html`<bdi>${inviterName}</bdi>`} ${verb} with the role ${role} on
${renderMinute(createdAt)}. ${expiresAt !== null && html`Valid until ${renderMinute(expiresAt)}.`}</p>
${renderForm(organizationId, "Accept")}
${renderForm(`${organizationId}/decline`, "Decline")}</li>
`;
}

/** @param path Begins with the ID of the organization, which is that of its heading, too. */
function renderForm(path: string, verb: "Sign in" | "Accept" | "Decline") {
  const [headingId = ""] = path.split("/");
  return html`<form method="post" action="${CHOICES_PATH}/${path}"><button aria-describedby="${headingId}"
${verb === "Decline" && html`class="plain"`}>${verb}</button></form>`;
}

export function renderRefusal({ code, message }: ApiError) {
  const mayContinue = code === "conflict" || code === "not_found";
  const next = mayContinue
    ? renderBack("Back to your organizations and invitations")
    : html`<p><a href="${SIGN_IN_PATH}">Start again</a></p>`;
  return pages.render("You are not signed in", html`<p>${message}</p>${next}`);
}

function renderBack(text: string) {
  return html`<p><a href="${CHOICES_PATH}">${text}</a></p>`;
}
