import { useState } from "preact/hooks";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { useList } from "../../query.ts";
import { SessionItem } from "./session-item.tsx";

export function SessionsTab() {
  const list = useList("/v1/sessions");
  const [revoked, setRevoked] = useState<Schemas["Session"]>();
  return (
    <Section title="Your sessions">
      <RecordList
        list={list}
        label="Sessions"
        keyOf={({ id }) => id}
        render={(session) => (
          <SessionItem session={session} isCurrent={session.current}>
            {!session.current && can("revokeSession") && (
              <Button
                kind="small"
                label={`Revoke the session ${session.id}`}
                onClick={() => setRevoked(session)}
              >
                Revoke
              </Button>
            )}
          </SessionItem>
        )}
        empty={<Empty title="There are no sessions." />}
      />
      {revoked && (
        <Confirm
          title="Revoke the session"
          verb="Revoke"
          done="Session revoked."
          onClose={() => setRevoked(undefined)}
          work={async () => {
            const path = { session_id: revoked.id };
            await client.delete("/v1/sessions/{session_id}", { path });
            await list.reload();
          }}
        >
          <p>Its browser is signed out.</p>
        </Confirm>
      )}
    </Section>
  );
}
