import { useState } from "preact/hooks";
import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, Dialog } from "../../components/dialog.tsx";
import { Form, SelectField, TextField } from "../../components/form.tsx";
import { Empty, RecordList } from "../../components/list.tsx";
import { Section } from "../../components/page.tsx";
import { SecretDialog } from "../../components/secret.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import { ORG_ROLES } from "./members-tab.tsx";
import type { OrganizationTabProps } from "./organization-page.tsx";

type OpenDialog =
  | { kind: "invite" }
  | { kind: "link"; url: string }
  | { kind: "revoke"; invitation: Schemas["Invitation"] };

export function Invitations({ path }: OrganizationTabProps) {
  const list = useList("/v1/orgs/{org_id}/invitations", { path });
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  return (
    <Section
      title="Invitations"
      actions={
        can("createInvitation") && (
          <Button kind="primary" onClick={() => setDialog({ kind: "invite" })}>
            Invite a person
          </Button>
        )
      }
    >
      <RecordList
        list={list}
        label="Invitations"
        keyOf={({ id }) => id}
        render={(invitation) => (
          <div class="list-item">
            <span>
              {showHidden(invitation.email)} <span class="soft small">as {invitation.role}</span>
            </span>
            <span class="row">
              <span class="soft small">
                Expires <Time at={invitation.expires_at} />
              </span>
              {can("revokeInvitation") && (
                <Button
                  kind="small"
                  label={`Revoke the invitation of ${invitation.email}`}
                  onClick={() => setDialog({ kind: "revoke", invitation })}
                >
                  Revoke
                </Button>
              )}
            </span>
          </div>
        )}
        empty={<Empty title="There are no open invitations." />}
      />
      {dialog?.kind === "invite" && (
        <Dialog title="Invite a person" onClose={close}>
          <Form
            verb="Create the link"
            done="Invitation created."
            onCancel={close}
            submit={async (fields) => {
              const { url } = await client.post("/v1/orgs/{org_id}/invitations", {
                path,
                body: {
                  email: fields.text("email"),
                  role: fields.text("role") as Schemas["OrgRole"],
                },
              });
              setDialog({ kind: "link", url });
              await list.reload();
            }}
          >
            {(error) => (
              <>
                <TextField
                  name="email"
                  type="email"
                  label="E-mail address"
                  required
                  error={error}
                />
                <SelectField name="role" label="Role" options={ORG_ROLES} />
              </>
            )}
          </Form>
        </Dialog>
      )}
      {dialog?.kind === "link" && (
        <SecretDialog
          title="Send this link to the person"
          what="Invitation link"
          secret={dialog.url}
          onClose={close}
        />
      )}
      {dialog?.kind === "revoke" && (
        <Confirm
          title="Revoke the invitation"
          verb="Revoke"
          done="Invitation revoked."
          onClose={close}
          work={async () => {
            await client.delete("/v1/orgs/{org_id}/invitations/{invitation_id}", {
              path: { ...path, invitation_id: dialog.invitation.id },
            });
            await list.reload();
          }}
        >
          <p>The link of {showHidden(dialog.invitation.email)} stops working.</p>
        </Confirm>
      )}
    </Section>
  );
}
