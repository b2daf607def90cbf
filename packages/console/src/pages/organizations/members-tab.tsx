import { can, rolesFrom } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { ItemList } from "../../components/item-list.tsx";
import { MemberRow } from "../../components/member-row.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import type { OrganizationTabProps } from "../tabs.ts";
import { Invitations } from "./invitations.tsx";
import { confirmRemoval, mayManage, mayRemove, ORG_ROLES } from "./members.ts";
import { NotFull } from "./not-full.tsx";

type Member = Schemas["Member"];

export function MembersTab({ path }: OrganizationTabProps) {
  const list = useList("/v1/orgs/{org_id}/members", { path });
  return (
    <div class="stack loose">
      <ItemList
        title="Members"
        list={list}
        nameOf={({ name, display_name }) => `${name} ${display_name}`}
        row={(member, buttons) => (
          <MemberRow
            name={nameOf(member)}
            title={<MemberTitle member={member} />}
            role={member.role}
            roles={mayManage(member) ? rolesFrom(ORG_ROLES, member.role) : undefined}
            change={async (role) => {
              await changeRole(member, role);
              await list.reload();
            }}
          >
            {buttons}
          </MemberRow>
        )}
        itemButtons={(member) => [
          mayRemove(member) && {
            verb: "Remove",
            label: `Remove ${nameOf(member)}`,
            confirm: confirmRemoval(member),
          },
        ]}
        empty="No loaded member has this name."
      >
        {can("replaceMember") && <NotFull />}
      </ItemList>
      {can("listInvitations") && <Invitations path={path} />}
    </div>
  );
}

function nameOf({ display_name, name }: Member): string {
  return showHidden(display_name || name);
}

async function changeRole({ org_id, membership_id }: Member, role: string) {
  return client.put("/v1/orgs/{org_id}/members/{member_id}", {
    path: { org_id, member_id: membership_id },
    body: { role: role as Schemas["OrgRole"] },
  });
}

function MemberTitle({ member }: { member: Member }) {
  return (
    <>
      <a href={`${ROOT}organization/members/${member.membership_id}`}>{nameOf(member)}</a>{" "}
      <span class="soft small">{describeMember(member)}</span>
    </>
  );
}

/** What is special about a member, such as "pending, you". */
function describeMember({ membership_id, kind, status }: Member): string {
  return [
    kind === "service_account" && "service account",
    status === "pending" && "pending",
    membership_id === currentWho().membership.id && "you",
  ]
    .filter(Boolean)
    .join(", ");
}
