import { useState } from "preact/hooks";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { humanize, showHidden } from "../../format.ts";
import { useList } from "../../query.ts";

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
          <div class="list-item">
            <span>
              {humanize(session.source)}
              {session.current && <strong> (this one)</strong>}
              <br />
              <span class="soft small">{showHidden(session.user_agent ?? "Unknown browser")}</span>
            </span>
            <span class="row">
              <span class="soft small">
                Started <Time at={session.created_at} />, ends <Time at={session.expires_at} />
              </span>
              {!session.current && can("revokeSession") && (
                <Button
                  kind="small"
                  label={`Revoke the session ${session.id}`}
                  onClick={() => setRevoked(session)}
                >
                  Revoke
                </Button>
              )}
            </span>
          </div>
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
