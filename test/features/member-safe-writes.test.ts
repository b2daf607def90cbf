import { beforeEach, expect, it } from "vitest";
import { Client, type Reply } from "../support/client.ts";
import { beforeBatch, Instrumented } from "../support/instruments.ts";
import {
  join,
  newInvitation,
  newProject,
  newServiceAccount,
  newWorld,
  type World,
} from "../support/world.ts";

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

const tagOf = ({ headers }: Reply) => String(headers.get("etag"));

it("a member of a project has its own version: its role in the organization is another resource", async () => {
  const { id } = await newProject(world.client);
  const { membershipId } = await join(world);
  const members = `/v1/projects/${id}/members`;
  await world.client.post(members, { member_ids: [membershipId], role: "owner" });
  const path = `${members}/${membershipId}`;
  const changed = await world.client.put(path, { role: "viewer" });
  await world.client.put(`/v1/orgs/${world.id}/members/${membershipId}`, { role: "admin" });
  const current = { "if-match": tagOf(changed) };
  expect((await world.client.request("DELETE", path, undefined, current)).status).toBe(204);
});

it("an accepted invitation leads to the member that it creates", async () => {
  const { token } = await newInvitation(world);
  const accepted = await new Client(undefined).post("/v1/invitations/accept", { token });
  const read = await world.client.get(String(accepted.headers.get("location")));
  expect(read.body).toEqual(accepted.body.membership);
  expect(tagOf(read)).toBe(tagOf(accepted));
});

it("a service account keeps a role that another request gives it while it is renamed", async () => {
  const id = await newServiceAccount(world);
  const path = `/v1/orgs/${world.id}/service-accounts/${id}`;
  const database = beforeBatch(1, () => world.client.patch(path, { role: "admin" }));
  const client = world.client.via(new Instrumented({ database }).fetch);
  const headers = { "idempotency-key": "rename" };
  const renamed = await client.request("PATCH", path, { name: "Bötchen" }, headers);
  expect(renamed).toMatchObject({ status: 200, body: { name: "Bötchen", role: "admin" } });
  const repeated = await world.client.request("PATCH", path, { name: "Bötchen" }, headers);
  expect([repeated.text, tagOf(repeated)]).toEqual([renamed.text, tagOf(renamed)]);
  expect(tagOf(await world.client.get(path))).toBe(tagOf(renamed));
});
