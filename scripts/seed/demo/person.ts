import { type Client, createClient, type Schemas } from "../../../packages/client/src/index.ts";

export interface Person {
  client: Client;
  membershipId: string;
}

/** Somebody who has accepted an invitation, with an API key of their own. */
export async function invitePerson(
  url: string,
  owner: Client,
  organizationId: string,
  fields: { name: string; email: string; role: Schemas["OrgRole"] },
): Promise<Person> {
  const invitation = await owner.post("/v1/orgs/{org_id}/invitations", {
    path: { org_id: organizationId },
    body: fields,
  });
  const token = new URL(invitation.url).pathname.split("/").at(-1) ?? "";
  const { membership, api_key } = await createClient({ url }).post("/v1/invitations/accept", {
    body: { token },
  });
  return {
    client: createClient({ url, apiKey: api_key.key }),
    membershipId: membership.membership_id,
  };
}
