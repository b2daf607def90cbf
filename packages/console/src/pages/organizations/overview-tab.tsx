import { can } from "../../access.ts";
import { client } from "../../api.ts";
import { DeleteSection } from "../../components/delete-section.tsx";
import { Form, SelectField, TextField } from "../../components/form.tsx";
import { Pending } from "../../components/list.tsx";
import { Facts, Section } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { useQuery } from "../../query.ts";
import { currentWho, endSession, readSession } from "../../session.ts";
import type { OrganizationTabProps } from "../tabs.ts";

const SECONDS_PER_DAY = 86_400;

export function OverviewTab({ path }: OrganizationTabProps) {
  const { data, error, reload } = useQuery("/v1/orgs/{org_id}", { path });
  if (!data) return <Pending error={error} />;
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
        {can("updateOrganization") && <Rename path={path} name={data.name} reload={reload} />}
      </Section>
      {can("getApiKeyPolicy") && <KeyPolicy path={path} />}
      {can("deleteOrganization") && (
        <DeleteSection
          what="organization"
          name={data.name}
          content="its projects, members, keys and its audit log"
          text="Everything in the organization is deleted, and every key stops working. This cannot be undone."
          work={() => client.delete("/v1/orgs/{org_id}", { path })}
          leave={endSession}
        />
      )}
    </div>
  );
}

interface RenameProps extends OrganizationTabProps {
  name: string;
  reload: () => Promise<void>;
}

function Rename({ path, name, reload }: RenameProps) {
  return (
    <Form
      verb="Save"
      done="Saved."
      reload={() => Promise.all([reload(), readSession()])}
      submit={(fields) =>
        client.patch("/v1/orgs/{org_id}", { path, body: { name: fields.text("name") } })
      }
    >
      {(error) => <TextField name="name" label="Name" value={name} required error={error} />}
    </Form>
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
          reload={reload}
          submit={(fields) => {
            const chosen = fields.optional("days");
            const max_age_seconds = chosen === undefined ? null : Number(chosen) * SECONDS_PER_DAY;
            const body = { max_age_seconds };
            return client.put("/v1/orgs/{org_id}/api-key-policy", { path, body });
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
