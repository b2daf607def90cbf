import { RUN_CLI } from "../../../../../src/lib/addresses.ts";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { Choices, type FormFields, SelectField, TextField } from "../../components/form.tsx";
import { showHidden } from "../../format.ts";
import { readAll, useList, useReadOnce } from "../../query.ts";
import { currentWho } from "../../session.ts";
import type { OrganizationTabProps } from "../tabs.ts";
import { ORG_ROLES } from "./members.ts";
import { readScopes, ScopeFields } from "./scope-fields.tsx";

const MS_PER_DAY = 86_400_000;

const EXPIRIES = [
  ["90", "90 days"],
  ["30", "30 days"],
  ["7", "7 days"],
  ["365", "1 year"],
  ["", "Never"],
] as const;

type CreateKeyProps = OrganizationTabProps & OpenDialogProps;

export function CreateKey({ path, showSecret, ...dialog }: CreateKeyProps) {
  const { credential, membership } = currentWho();
  const projects = useList("/v1/projects", { query: { limit: 100 } });
  const { data: members } = useReadOnce(() => readMembers(path));
  return (
    <FormDialog
      {...dialog}
      title="Create an API key"
      verb="Create"
      done="API key created."
      submit={async (fields) => {
        const body = readKey(fields);
        const { key } = await client.post("/v1/orgs/{org_id}/api-keys", { path, body });
        showSecret({
          title: "Your new API key",
          what: "API key",
          secret: key,
          command: `${RUN_CLI} login --url ${location.origin}`,
        });
      }}
    >
      {(error) => (
        <>
          <TextField name="name" label="Name" hint="What it is for" required error={error} />
          <SelectField
            name="membership_id"
            label="For"
            value={membership.id}
            options={members ?? [[membership.id, "You"]]}
          />
          <SelectField
            name="role"
            label="Role at most"
            options={[["", "As the member, and at most yours"], ...ORG_ROLES]}
          />
          <SelectField name="days" label="Expires after" options={EXPIRIES} value="90" />
          <ScopeFields offered={credential.scopes} everything="Everything I may" />
          <Choices
            name="project"
            legend="Only these projects (none: all)"
            options={(projects.items ?? []).map(({ id, name }) => [id, showHidden(name)])}
          />
        </>
      )}
    </FormDialog>
  );
}

function readKey(fields: FormFields): Schemas["CreateApiKey"] {
  const role = fields.optional("role") as Schemas["OrgRole"] | undefined;
  const days = fields.optional("days");
  const scopes = readScopes(fields);
  const projectIds = fields.all("project");
  return {
    name: fields.text("name"),
    membership_id: fields.text("membership_id"),
    ...(role && { role }),
    ...(days && { expires_at: new Date(Date.now() + Number(days) * MS_PER_DAY).toISOString() }),
    ...(scopes && { scopes }),
    ...(projectIds.length > 0 && { project_ids: projectIds }),
  };
}

/** Undefined: the session may not read them. */
async function readMembers(path: { org_id: string }) {
  if (!can("listMembers")) return undefined;
  const members = await readAll("/v1/orgs/{org_id}/members", { path });
  return members.map((each) => [each.membership_id, showHidden(each.display_name)] as const);
}
