import { useEffect, useState } from "preact/hooks";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Check, Form, type FormFields, SelectField, TextField } from "../../components/form.tsx";
import { showHidden } from "../../format.ts";
import { readAll, useList } from "../../query.ts";
import { currentWho } from "../../session.ts";
import { ORG_ROLES } from "./members-tab.tsx";
import { readScopes, ScopeFields } from "./scope-fields.tsx";

const MS_PER_DAY = 86_400_000;

const EXPIRIES = [
  ["90", "90 days"],
  ["30", "30 days"],
  ["7", "7 days"],
  ["365", "1 year"],
  ["", "Never"],
] as const;

interface CreateKeyProps {
  path: { org_id: string };
  onClose: () => void;
  onCreated: (secret: string) => Promise<void>;
}

export function CreateKey({ path, onClose, onCreated }: CreateKeyProps) {
  const { credential, membership } = currentWho();
  const projects = useList("/v1/projects", { query: { limit: 100 } });
  const members = useMembers(path);
  return (
    <Dialog title="Create an API key" onClose={onClose}>
      <Form
        verb="Create"
        done="API key created."
        onCancel={onClose}
        submit={async (fields) => {
          const body = readKey(fields);
          const { key } = await client.post("/v1/orgs/{org_id}/api-keys", { path, body });
          await onCreated(key);
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
            <ScopeFields offered={credential.scopes} />
            {projects.items && projects.items.length > 0 && (
              <fieldset class="stack">
                <legend>Only these projects (none: all)</legend>
                <div class="checks">
                  {projects.items.map(({ id, name }) => (
                    <Check key={id} name="project" value={id} label={showHidden(name)} />
                  ))}
                </div>
              </fieldset>
            )}
          </>
        )}
      </Form>
    </Dialog>
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

/** The members as choices. Undefined while they are read, and if they cannot be. */
function useMembers(path: { org_id: string }) {
  const [members, setMembers] = useState<(readonly [id: string, name: string])[]>();
  useEffect(() => {
    if (!can("listMembers")) return;
    readAll("/v1/orgs/{org_id}/members", { path }).then(
      (found) =>
        setMembers(
          found.map(
            ({ membership_id: id, display_name }) => [id, showHidden(display_name)] as const,
          ),
        ),
      () => undefined,
    );
  }, []);
  return members;
}
