import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { type OpenDialogProps, PageButtons } from "../../components/dialog-buttons.tsx";
import { ChoiceFilter } from "../../components/filter.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { Facts, Page, PendingPage } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { humanize } from "../../format.ts";
import { useList, useQuery } from "../../query.ts";
import { navigate, type Params, queryOf, ROOT } from "../../router.ts";
import { currentWho } from "../../session.ts";
import { confirmRemoval, mayRemove } from "./members.ts";
import { FAMILY_PAGE, RevokeFamily } from "./revoke-family.tsx";
import { SessionItem } from "./session-item.tsx";

const MEMBERS = `${ROOT}organization/members`;
const SESSION = "/v1/orgs/{org_id}/members/{member_id}/sessions/{member_session_id}";

const STATUSES = [
  ["", "Active"],
  ["ended", "Ended"],
] as const;

type MemberSession = Schemas["MemberSession"];
type MemberPath = { org_id: string; member_id: string };

export function MemberPage({ params }: { params: Params }) {
  const { organization } = currentWho();
  const path = { org_id: organization.id, member_id: params["member_id"] ?? "" };
  const { data, error } = useQuery("/v1/orgs/{org_id}/members/{member_id}", { path });
  if (!data) return <PendingPage title="Member" error={error} />;
  return (
    <Page
      title={data.display_name}
      crumbs={[
        [organization.name, `${ROOT}organization`],
        ["Members", MEMBERS],
      ]}
      actions={
        mayRemove(data) && (
          <PageButtons
            buttons={[
              {
                verb: "Remove",
                kind: "danger",
                confirm: { ...confirmRemoval(data), leave: () => navigate(MEMBERS) },
              },
            ]}
          />
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
    </Page>
  );
}

function MemberSessions({ path }: { path: MemberPath }) {
  const status = queryOf("status") || "active";
  const query = { status };
  const list = useList("/v1/orgs/{org_id}/members/{member_id}/sessions", { path, query });
  const currentId = currentWho().credential.id;
  return (
    <ItemList
      title="Sessions"
      list={list}
      filters={<ChoiceFilter name="status" label="Status" options={STATUSES} />}
      row={(session, buttons) => (
        <SessionItem session={session} isCurrent={session.id === currentId}>
          {buttons}
        </SessionItem>
      )}
      itemButtons={(session) => {
        const verb = session.ended_at ? "Revoke what it made" : "Revoke";
        return [
          session.id !== currentId &&
            can("revokeMemberSession") && {
              verb,
              label: `${verb}: session ${session.id}`,
              dialog: (props) => <RevokeSession session={session} path={path} {...props} />,
            },
        ];
      }}
      empty="There are no such sessions."
    />
  );
}

interface RevokeSessionProps extends OpenDialogProps {
  session: MemberSession;
  path: MemberPath;
}

function RevokeSession({ session, path: member, ...dialog }: RevokeSessionProps) {
  const path = { ...member, member_session_id: session.id };
  const family = useList(`${SESSION}/family`, { path, query: { limit: FAMILY_PAGE } });
  const hasEnded = session.ended_at !== undefined;
  return (
    <RevokeFamily
      {...dialog}
      title={hasEnded ? "Revoke what the session made" : "Revoke the session"}
      done={hasEnded ? "Family revoked." : "Session revoked."}
      family={family}
      hasEnded={hasEnded}
      endsAnyway={["sign_in_link"]}
      revoke={(descendants) =>
        client.delete(SESSION, { path, ...(descendants && { query: { descendants } }) })
      }
    >
      {hasEnded ? (
        <p>The session has ended already. What was made in it may still be valid.</p>
      ) : (
        <p>Its browser is signed out.</p>
      )}
    </RevokeFamily>
  );
}
