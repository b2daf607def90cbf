import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import type { ConfirmationOf } from "../../components/dialog-buttons.tsx";
import { showHidden } from "../../format.ts";
import { currentWho } from "../../session.ts";

type Member = Schemas["Member"];

export const ORG_ROLES = [
  ["member", "Member"],
  ["admin", "Admin"],
  ["owner", "Owner"],
] as const;

/** Another person. Service accounts have a tab of their own. */
export function mayManage({ kind, membership_id }: Member): boolean {
  return can("replaceMember") && kind === "person" && membership_id !== currentWho().membership.id;
}

export function mayRemove(member: Member): boolean {
  return mayManage(member) && can("removeMember");
}

export function confirmRemoval({ name, display_name, org_id, membership_id }: Member) {
  return {
    title: `Remove ${showHidden(display_name)}`,
    typed: name,
    done: "Member removed.",
    text: "The member's API keys and sessions stop working at once.",
    work: () =>
      client.delete("/v1/orgs/{org_id}/members/{member_id}", {
        path: { org_id, member_id: membership_id },
      }),
  } satisfies ConfirmationOf;
}
