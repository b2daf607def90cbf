import { currentWho } from "../../session.ts";

/** Why the page cannot invite and promote, if the credential is not full. */
export function NotFull() {
  if (currentWho().credential.full) return null;
  return (
    <p class="soft">
      To invite people and give higher roles, sign in with a key of your own that has your whole
      role, no scopes, no projects and no expiry, or with OpenID Connect.
    </p>
  );
}
