import { ApiClient, type Service } from "./service.ts";

export interface Person {
  membershipId: string;
  /** With a key of the person's own. */
  client: ApiClient;
}

/** A person who has accepted an invitation to the organization, and got a role in a project. */
export async function invite(
  { owner, organizationId, url }: Service,
  name: string,
  place?: { projectId: string; role: "viewer" | "contributor" | "owner" },
): Promise<Person> {
  const email = `${crypto.randomUUID()}@example.com`;
  const path = `/v1/orgs/${organizationId}/invitations`;
  const invitation = await owner.call("POST", path, { email, name, role: "member" });
  const token = String(invitation.url).split("/").at(-1);
  const response = await fetch(new URL("/v1/invitations/accept", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  const { membership, api_key: apiKey } = JSON.parse(await response.text());
  const membershipId = membership.membership_id;
  if (place) {
    const { projectId, role } = place;
    const body = { member_ids: [membershipId], role };
    await owner.call("POST", `/v1/projects/${projectId}/members`, body);
  }
  return { membershipId, client: new ApiClient(url, apiKey.key) };
}
