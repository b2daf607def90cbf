import { useState } from "preact/hooks";
import type { Can } from "../../access.ts";
import { client } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Form, TextField } from "../../components/form.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { formatExact, formatNumber } from "../../format.ts";
import { useList } from "../../query.ts";
import type { IntegrationPath } from "./integration-page.tsx";

const PATTERN = "/v1/projects/{project_id}/notification-integrations/{integration_id}/recoveries";

export function Recoveries({ path, can }: { path: IntegrationPath; can: Can }) {
  const list = useList(PATTERN, { path }, "on");
  const [isCreating, setCreating] = useState(false);
  return (
    <Section
      title="Recoveries"
      actions={
        can("createRecovery") && (
          <Button onClick={() => setCreating(true)}>Recover failed deliveries</Button>
        )
      }
    >
      <RecordList
        list={list}
        label="Recoveries"
        keyOf={({ id }) => id}
        render={({ status, since, until, delivery_count }) => (
          <div class="list-item">
            <span>
              {formatExact(since)} to {formatExact(until)}
              <br />
              <span class="soft small">{formatNumber(delivery_count)} deliveries</span>
            </span>
            <Status of={status} />
          </div>
        )}
        empty={<Empty title="A recovery sends the failed deliveries of a period again." />}
      />
      {isCreating && (
        <Dialog title="Recover failed deliveries" onClose={() => setCreating(false)}>
          <Form
            verb="Recover"
            done="Recovery started."
            onCancel={() => setCreating(false)}
            onDone={() => setCreating(false)}
            submit={async (fields) => {
              const until = fields.optional("until");
              const body = {
                since: toTimestamp(fields.text("since")),
                ...(until !== undefined && { until: toTimestamp(until) }),
              };
              await client.post(PATTERN, { path, body });
              await list.reload();
            }}
          >
            {(error) => (
              <>
                <TextField
                  name="since"
                  type="datetime-local"
                  label="From"
                  hint="At most 30 days ago"
                  required
                  error={error}
                />
                <TextField
                  name="until"
                  type="datetime-local"
                  label="To (empty: now)"
                  error={error}
                />
              </>
            )}
          </Form>
        </Dialog>
      )}
    </Section>
  );
}

/** The field has a local time. */
function toTimestamp(local: string): string {
  return new Date(local).toISOString();
}
