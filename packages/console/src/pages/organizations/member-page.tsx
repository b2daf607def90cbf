import { useState } from "preact/hooks";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { ChoiceFilter } from "../../components/filter.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Facts, Page, PendingPage, Section } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { humanize } from "../../format.ts";
import { useList, useQuery } from "../../query.ts";
import { navigate, type Params, queryOf, ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { mayManage, RemoveMember } from "./remove-member.tsx";
import { FAMILY_PAGE, RevokeFamily } from "./revoke-family.tsx";
import { SessionItem } from "./session-item.tsx";

const MEMBERS = `${ROOT}organization/members`;
const SESSION = "/v1/orgs/{org_id}/members/{member_id}/sessions/{member_session_id}";

type MemberSession = Schemas["MemberSession"];
type MemberPath = { org_id: string; member_id: string };

export function MemberPage({ params }: { params: Params }) {
  const { organization } = currentWho();
  const path = { org_id: organization.id, member_id: params["member_id"] ?? "" };
  const { data, error } = useQuery("/v1/orgs/{org_id}/members/{member_id}", { path });
  const [isRemoving, setRemoving] = useState(false);
  if (!data) return <PendingPage title="Member" error={error} />;
  return (
    <Page
      title={data.display_name}
      crumbs={[
        [organization.name, `${ROOT}organization`],
        ["Members", MEMBERS],
      ]}
      actions={
        mayManage(data) &&
        can("removeMember") && (
          <Button kind="danger" onClick={() => setRemoving(true)}>
            Remove
          </Button>
        )
      }
    >
      <div class="stack loose">
        <Facts
          facts={[
            ["ID", <code key="id">{data.membership_id}</code>],
            ["Kind", humanize(data.kind)],
            ["Role", data.role],
            ["Status", humanize(data.status)],
            ["Member since", <Time key="created" at={data.created_at} />],
          ]}
        />
        {can("listMemberSessions") && <MemberSessions path={path} />}
      </div>
      {isRemoving && (
        <RemoveMember
          member={data}
          onClose={() => setRemoving(false)}
          onRemoved={async () => navigate(MEMBERS)}
        />
      )}
    </Page>
  );
}

function MemberSessions({ path }: { path: MemberPath }) {
  const status = queryOf("status") || "active";
  const query = { status };
  const list = useList("/v1/orgs/{org_id}/members/{member_id}/sessions", { path, query });
  const [revoked, setRevoked] = useState<MemberSession>();
  const currentId = currentWho().credential.id;
  return (
    <Section title="Sessions">
      <div class="filters">
        <ChoiceFilter
          name="status"
          label="Status"
          options={[
            ["", "Active"],
            ["ended", "Ended"],
          ]}
        />
      </div>
      <RecordList
        list={list}
        label="Sessions"
        keyOf={({ id }) => id}
        render={(session) => {
          const verb = session.ended_at ? "Revoke what it made" : "Revoke";
          return (
            <SessionItem session={session} isCurrent={session.id === currentId}>
              {session.id !== currentId && can("revokeMemberSession") && (
                <Button
                  kind="small"
                  label={`${verb}: session ${session.id}`}
                  onClick={() => setRevoked(session)}
                >
                  {verb}
                </Button>
              )}
            </SessionItem>
          );
        }}
        empty={<Empty title="There are no such sessions." />}
      />
      {revoked && (
        <RevokeSession
          session={revoked}
          path={path}
          onClose={() => setRevoked(undefined)}
          reload={list.reload}
        />
      )}
    </Section>
  );
}

interface RevokeSessionProps {
  session: MemberSession;
  path: MemberPath;
  onClose: () => void;
  reload: () => Promise<void>;
}

function RevokeSession({ session, path: member, onClose, reload }: RevokeSessionProps) {
  const path = { ...member, member_session_id: session.id };
  const family = useList(`${SESSION}/family`, { path, query: { limit: FAMILY_PAGE } });
  const hasEnded = session.ended_at !== undefined;
  return (
    <RevokeFamily
      title={hasEnded ? "Revoke what the session made" : "Revoke the session"}
      done={hasEnded ? "Family revoked." : "Session revoked."}
      family={family}
      hasEnded={hasEnded}
      endsAnyway={["sign_in_link"]}
      onClose={onClose}
      revoke={async (descendants) => {
        await client.delete(SESSION, { path, ...(descendants && { query: { descendants } }) });
        await reload();
      }}
    >
      {hasEnded ? (
        <p>The session has ended already. What was made in it may still be valid.</p>
      ) : (
        <p>Its browser is signed out.</p>
      )}
    </RevokeFamily>
  );
}
