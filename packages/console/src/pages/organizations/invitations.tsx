import { can } from "../../access.ts";
import { client, type Schemas } from "../../api.ts";
import { FormDialog } from "../../components/dialog.tsx";
import type { OpenDialogProps } from "../../components/dialog-buttons.tsx";
import { SelectField, TextField } from "../../components/form.tsx";
import { ItemList } from "../../components/item-list.tsx";
import { Time } from "../../components/time.tsx";
import { showHidden } from "../../format.ts";
import { useList } from "../../query.ts";
import type { OrganizationTabProps } from "../tabs.ts";
import { ORG_ROLES } from "./members.ts";

export function Invitations({ path }: OrganizationTabProps) {
  const list = useList("/v1/orgs/{org_id}/invitations", { path });
  return (
    <ItemList
      title="Invitations"
      list={list}
      buttons={[
        can("createInvitation") && {
          verb: "Invite a person",
          kind: "primary",
          dialog: (props) => <InvitePerson path={path} {...props} />,
        },
      ]}
      row={({ email, role, expires_at }, buttons) => (
        <div class="list-item">
          <span>
            <bdi>{showHidden(email)}</bdi> <span class="soft small">as {role}</span>
          </span>
          <span class="row">
            <span class="soft small">
              Expires <Time at={expires_at} />
            </span>
            {buttons}
          </span>
        </div>
      )}
      itemButtons={({ id, email }) => [
        can("revokeInvitation") && {
          verb: "Revoke",
          label: `Revoke the invitation of ${email}`,
          confirm: {
            title: "Revoke the invitation",
            done: "Invitation revoked.",
            text: `The link of ${showHidden(email)} stops working.`,
            work: () =>
              client.delete("/v1/orgs/{org_id}/invitations/{invitation_id}", {
                path: { ...path, invitation_id: id },
              }),
          },
        },
      ]}
      empty="There are no open invitations."
    />
  );
}

function InvitePerson({ path, showSecret, ...dialog }: OrganizationTabProps & OpenDialogProps) {
  return (
    <FormDialog
      {...dialog}
      title="Invite a person"
      verb="Create the link"
      done="Invitation created."
      submit={async (fields) => {
        const body = {
          email: fields.text("email"),
          role: fields.text("role") as Schemas["OrgRole"],
        };
        const { url } = await client.post("/v1/orgs/{org_id}/invitations", { path, body });
        const what = "Invitation link";
        showSecret({ title: "Send this link to the person", what, secret: url });
      }}
    >
      {(error) => (
        <>
          <TextField name="email" type="email" label="E-mail address" required error={error} />
          <SelectField name="role" label="Role" options={ORG_ROLES} />
        </>
      )}
    </FormDialog>
  );
}
