import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Confirm } from "../../components/dialog.tsx";
import { showHidden } from "../../format.ts";
import { currentWho } from "../../session.ts";

type Member = Schemas["Member"];

/** Another person. Service accounts have a tab of their own. */
export function mayManage({ kind, membership_id }: Member): boolean {
  return can("replaceMember") && kind === "person" && membership_id !== currentWho().membership.id;
}

interface RemoveMemberProps {
  member: Member;
  onClose: () => void;
  onRemoved: () => Promise<void>;
}

export function RemoveMember({ member, onClose, onRemoved }: RemoveMemberProps) {
  const { name, display_name, org_id, membership_id } = member;
  return (
    <Confirm
      title={`Remove ${showHidden(display_name)}`}
      verb="Remove"
      typed={name}
      done="Member removed."
      onClose={onClose}
      work={async () => {
        await client.delete("/v1/orgs/{org_id}/members/{member_id}", {
          path: { org_id, member_id: membership_id },
        });
        await onRemoved();
      }}
    >
      <p>The member's API keys and sessions stop working at once.</p>
    </Confirm>
  );
}
