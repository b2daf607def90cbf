import { useState } from "preact/hooks";
import { can } from "../../access.ts";
import { client } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Form, SelectField, TextField } from "../../components/form.tsx";
import { Skeleton } from "../../components/list.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useQuery } from "../../query.ts";
import { currentWho, endSession, readSession } from "../../session.ts";
import type { OrganizationTabProps } from "./organization-page.tsx";

const SECONDS_PER_DAY = 86_400;

export function OverviewTab({ path }: OrganizationTabProps) {
  const { data, error, reload } = useQuery("/v1/orgs/{org_id}", { path });
  if (!data) return error === undefined ? <Skeleton /> : <ErrorNote error={error} />;
  return (
    <div class="stack loose">
      <Section title="Organization">
        <Facts
          facts={[
            ["ID", <code key="id">{data.id}</code>],
            ["Created", <Time key="created" at={data.created_at} />],
            ["Your role", currentWho().credential.role],
          ]}
        />
        {can("updateOrganization") && (
          <Form
            verb="Save"
            done="Saved."
            submit={async (fields) => {
              await client.patch("/v1/orgs/{org_id}", {
                path,
                body: { name: fields.text("name") },
              });
              await Promise.all([reload(), readSession()]);
            }}
          >
            {(error) => (
              <TextField name="name" label="Name" value={data.name} required error={error} />
            )}
          </Form>
        )}
      </Section>
      {can("getApiKeyPolicy") && <KeyPolicy path={path} />}
      {can("deleteOrganization") && <DeleteOrganization path={path} name={data.name} />}
    </div>
  );
}

function KeyPolicy({ path }: OrganizationTabProps) {
  const { data, reload } = useQuery("/v1/orgs/{org_id}/api-key-policy", { path });
  if (!data) return null;
  const days = data.max_age_seconds && Math.round(data.max_age_seconds / SECONDS_PER_DAY);
  const choices = [30, 90, 180, 365].map((each) => [String(each), `${each} days`] as const);
  return (
    <Section title="Age of API keys">
      <p>
        {days
          ? `A new key expires at most ${days} days after it is created.`
          : "New keys may be valid without an end."}
      </p>
      {can("putApiKeyPolicy") && (
        <Form
          verb="Save the age"
          done="Saved."
          submit={async (fields) => {
            const chosen = fields.optional("days");
            const max_age_seconds = chosen === undefined ? null : Number(chosen) * SECONDS_PER_DAY;
            await client.put("/v1/orgs/{org_id}/api-key-policy", {
              path,
              body: { max_age_seconds },
            });
            await reload();
          }}
        >
          {() => (
            <SelectField
              name="days"
              label="Maximum age of new keys"
              value={days ? String(days) : ""}
              options={[["", "Unlimited"], ...choices]}
            />
          )}
        </Form>
      )}
    </Section>
  );
}

function DeleteOrganization({ path, name }: OrganizationTabProps & { name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Section title="Delete the organization">
      <p>This deletes its projects, members, keys and its audit log for good.</p>
      <div>
        <Button kind="danger" onClick={() => setOpen(true)}>
          Delete the organization
        </Button>
      </div>
      {isOpen && (
        <Confirm
          title={`Delete ${showHidden(name)}`}
          verb="Delete"
          typed={name}
          done="Organization deleted."
          onClose={() => setOpen(false)}
          work={async () => {
            await client.delete("/v1/orgs/{org_id}", { path });
            endSession();
          }}
        >
          <p>
            Everything in the organization is deleted, and every key stops working. This cannot be
            undone.
          </p>
        </Confirm>
      )}
    </Section>
  );
}
