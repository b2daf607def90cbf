import { Client } from "./client.ts";
import type { World } from "./world.ts";

/** A second organization of the same person. */
export async function newOrganization(person: World): Promise<World> {
  const { body } = await person.client.post("/v1/orgs", { name: "Second" });
  return {
    ...person,
    id: body.id,
    membershipId: body.api_key.membership_id,
    keyId: body.api_key.id,
    client: new Client(body.api_key.key),
  };
}
