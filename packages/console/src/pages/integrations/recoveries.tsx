import type { Can } from "../../access.ts";
import { client } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { TextField } from "../../components/form.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { Status } from "../../components/status.tsx";
import { formatExact, formatNumber } from "../../format.ts";
import { useList } from "../../query.ts";
import { INTEGRATION, type IntegrationPath } from "./integration.ts";

const RECOVERIES = `${INTEGRATION}/recoveries` as const;

export function Recoveries({ path, can }: { path: IntegrationPath; can: Can }) {
  const list = useList(RECOVERIES, { path }, "on");
  return (
    <ItemList
      title="Recoveries"
      list={list}
      buttons={[
        can("createRecovery") && {
          verb: "Recover failed deliveries",
          dialog: (props) => <CreateRecovery path={path} {...props} />,
        },
      ]}
      row={({ status, since, until, delivery_count }) => (
        <div class="list-item">
          <span>
            {formatExact(since)} to {formatExact(until)}
            <br />
            <span class="soft small">
              {delivery_count === 1 ? "1 delivery" : `${formatNumber(delivery_count)} deliveries`}
            </span>
          </span>
          <Status of={status} />
        </div>
      )}
      empty="A recovery sends the failed deliveries of a period again."
    />
  );
}

interface CreateRecoveryProps extends OpenDialogProps {
  path: IntegrationPath;
}

function CreateRecovery({ path, ...dialog }: CreateRecoveryProps) {
  return (
    <FormDialog
      {...dialog}
      title="Recover failed deliveries"
      verb="Recover"
      done="Recovery started."
      submit={(fields) => {
        const until = fields.optional("until");
        const body = {
          since: toTimestamp(fields.text("since")),
          ...(until !== undefined && { until: toTimestamp(until) }),
        };
        return client.post(RECOVERIES, { path, body });
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
          <TextField name="until" type="datetime-local" label="To (empty: now)" error={error} />
        </>
      )}
    </FormDialog>
  );
}

/** The field has a local time. */
function toTimestamp(local: string): string {
  return new Date(local).toISOString();
}
