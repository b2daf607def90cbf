import { can } from "../../access.ts";
import { client } from "../../api.ts";
import { ItemList } from "../../components/item-list.tsx";
import { useList } from "../../query.ts";
import { SessionItem } from "./session-item.tsx";

export function SessionsTab() {
  const list = useList("/v1/sessions");
  return (
    <ItemList
      title="Your sessions"
      label="Sessions"
      list={list}
      row={(session, buttons) => (
        <SessionItem session={session} isCurrent={session.current}>
          {buttons}
        </SessionItem>
      )}
      itemButtons={({ id, current }) => [
        !current &&
          can("revokeSession") && {
            verb: "Revoke",
            label: `Revoke the session ${id}`,
            confirm: {
              title: "Revoke the session",
              done: "Session revoked.",
              text: "Its browser is signed out.",
              work: () => client.delete("/v1/sessions/{session_id}", { path: { session_id: id } }),
            },
          },
      ]}
      empty="There are no sessions."
    />
  );
}
