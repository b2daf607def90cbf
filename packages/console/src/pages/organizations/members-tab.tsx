import { useState } from "preact/hooks";
import { can, rolesFrom } from "../../access.ts";
import { useAction } from "../../action.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Filter } from "../../components/filter.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { queryOf, ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { Invitations } from "./invitations.tsx";
import { NotFull } from "./not-full.tsx";
import type { OrganizationTabProps } from "./organization-page.tsx";
import { mayManage, RemoveMember } from "./remove-member.tsx";

type Member = Schemas["Member"];

export const ORG_ROLES = [
  ["member", "Member"],
  ["admin", "Admin"],
  ["owner", "Owner"],
] as const;

export function MembersTab({ path }: OrganizationTabProps) {
  const list = useList("/v1/orgs/{org_id}/members", { path });
  const [removed, setRemoved] = useState<Member>();
  const text = queryOf("filter").toLowerCase();
  return (
    <div class="stack loose">
      <Section title="Members">
        <Filter label="Filter by name" />
        {can("replaceMember") && <NotFull />}
        <RecordList
          list={list}
          label="Members"
          keyOf={({ membership_id }) => membership_id}
          filter={({ name, display_name }) =>
            `${name} ${display_name}`.toLowerCase().includes(text)
          }
          render={(member) => (
            <MemberRow member={member} onRemove={() => setRemoved(member)} reload={list.reload} />
          )}
          empty={<Empty title="No loaded member has this name." />}
        />
      </Section>
      {can("listInvitations") && <Invitations path={path} />}
      {removed && (
        <RemoveMember
          member={removed}
          onClose={() => setRemoved(undefined)}
          onRemoved={list.reload}
        />
      )}
    </div>
  );
}

interface MemberRowProps {
  member: Member;
  onRemove: () => void;
  reload: () => Promise<void>;
}

function MemberRow({ member, onRemove, reload }: MemberRowProps) {
  const action = useAction();
  const { membership_id, role, kind, status } = member;
  const name = showHidden(member.display_name || member.name);
  const isSelf = membership_id === currentWho().membership.id;
  const change = (value: string) =>
    action.run(async () => {
      await client.put("/v1/orgs/{org_id}/members/{member_id}", {
        path: { org_id: member.org_id, member_id: membership_id },
        body: { role: value as Schemas["OrgRole"] },
      });
      await reload();
    }, `${name} is now ${value}.`);
  const mayChange = mayManage(member);
  return (
    <>
      <div class="list-item">
        <span>
          <a href={`${ROOT}organization/members/${membership_id}`}>{name}</a>{" "}
          <span class="soft small">
            {[
              kind === "service_account" && "service account",
              status === "pending" && "pending",
              isSelf && "you",
            ]
              .filter(Boolean)
              .join(", ")}
          </span>
        </span>
        <span class="row">
          {mayChange ? (
            <select
              class="input auto"
              aria-label={`Role of ${name}`}
              onChange={(event) => change(event.currentTarget.value)}
            >
              {rolesFrom(ORG_ROLES, role).map(([value, label]) => (
                <option key={value} value={value} selected={value === role}>
                  {label}
                </option>
              ))}
            </select>
          ) : (
            role
          )}
          {mayChange && can("removeMember") && (
            <Button kind="small" label={`Remove ${name}`} onClick={onRemove}>
              Remove
            </Button>
          )}
        </span>
      </div>
      <ErrorNote error={action.error} />
    </>
  );
}
