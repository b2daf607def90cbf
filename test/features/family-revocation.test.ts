import { beforeEach, describe, expect, it } from "vitest";
import {
  clientOf,
  created,
  familyOf,
  newLeak,
  revokeFamily,
  statusesOf,
  statusOf,
} from "../support/api-keys.ts";
import { Client } from "../support/client.ts";
import {
  join,
  newEmail,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  type Person,
  signIn,
  type World,
} from "../support/world.ts";

let world: World;
let keys: string;
let members: string;
let invitations: string;

beforeEach(async () => {
  world = await newWorld();
  keys = `/v1/orgs/${world.id}/api-keys`;
  members = `/v1/orgs/${world.id}/members`;
  invitations = `/v1/orgs/${world.id}/invitations`;
});

describe("the revocation of a leaked key with its family", () => {
  it("ends its keys, runner tokens, trusts, invitations, sessions and sign-in links, and no others", async () => {
    const leaked = await newLeak(world);
    const { default_environment_id: environmentId } = await newProject(world.client);
    const pool = await newPool(world, [environmentId]);
    const tokens = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens`;
    const serviceAccountId = await newServiceAccount(world);
    const make = async (client: Client) => {
      const child = await created(client.post(keys, { name: "child" }));
      const path = "/v1/sign-in-links";
      return {
        child,
        grandchild: await created(clientOf(child).post(keys, { name: "grandchild" })),
        token: await created(client.post(tokens, { name: "token" })),
        link: await created(client.post(path, {})),
        invitation: await created(client.post(invitations, { email: newEmail(), role: "member" })),
        session: await signIn({ client }),
      };
    };
    const [theirs, ours] = [await make(leaked.client), await make(world.client)];
    const ofFamily = { createdByKeyId: leaked.keyId };
    const trustId = await newTrust(world, { membershipId: serviceAccountId }, ofFamily);
    const ourTrustId = await newTrust(world, { membershipId: serviceAccountId });
    const family = await familyOf(world, leaked.keyId);
    // No response shows the ID of a sign-in link.
    const shown = family.map(({ type, id }) => (type === "sign_in_link" ? type : `${type} ${id}`));
    expect(new Set(shown)).toEqual(
      new Set([
        `api_key ${theirs.child.id}`,
        `api_key ${theirs.grandchild.id}`,
        `runner_token ${theirs.token.id}`,
        `trust ${trustId}`,
        `invitation ${theirs.invitation.id}`,
        `session ${theirs.session.sessionId}`,
        "sign_in_link",
      ]),
    );
    await revokeFamily(world, leaked.keyId);
    const pages = (made: typeof theirs) => [made.link, made.invitation].map(({ url }) => url);
    const attempts = "/v1/runner/attempts";
    for (const [made, trust, expected] of [
      [theirs, trustId, [401, 401, 401, 401, 404, 404, 404]],
      [ours, ourTrustId, [200, 200, 200, 200, 200, 200, 200]],
    ] as const) {
      const clients = [clientOf(made.child), clientOf(made.grandchild), made.session.client];
      const statuses = [
        ...(await statusesOf(clients)),
        (await new Client(made.token.token).get(attempts)).status,
        (await world.client.get(`/v1/orgs/${world.id}/trusts/${trust}`)).status,
        ...(await Promise.all(
          pages(made).map(async (url) => {
            return (await new Client(undefined).get(new URL(url).pathname)).status;
          }),
        )),
      ];
      expect(statuses).toEqual(expected);
    }
  });

  it("removes no person whom it has added, and names them before and after", async () => {
    const leaked = await newLeak(world);
    const fields = { email: newEmail(), name: "Mallory", role: "member" };
    const added = await created(leaked.client.post(members, fields));
    const body = { email: newEmail(), role: "member" };
    const { url } = await created(leaked.client.post(invitations, body));
    const token = String(url.split("/").at(-1));
    const accepted = await created(new Client(undefined).post("/v1/invitations/accept", { token }));
    const theirs = clientOf(accepted.api_key);
    const ids = [added.membership_id, accepted.membership.membership_id].toSorted();
    const named = async () =>
      (await familyOf(world, leaked.keyId))
        .filter(({ type }) => type === "member")
        .map(({ id }) => id)
        .toSorted();
    expect(await named()).toEqual(ids);
    await revokeFamily(world, leaked.keyId);
    expect(await named()).toEqual(ids);
    expect(await statusOf(theirs)).toBe(200);
    for (const id of ids) expect((await world.client.delete(`${members}/${id}`)).status).toBe(204);
    expect(await statusOf(theirs)).toBe(401);
  });

  it("reaches what a person whom it has added has made for others, and names whom that person has added", async () => {
    const leaked = await newLeak(world);
    const invite = async (client: Client) => {
      const body = { email: newEmail(), role: "admin" };
      const { url } = await created(client.post(invitations, body));
      const token = String(url.split("/").at(-1));
      return created(new Client(undefined).post("/v1/invitations/accept", { token }));
    };
    const first = await invite(leaked.client);
    const theirs = clientOf(first.api_key);
    const second = await invite(theirs);
    const makeFor = (membership_id: string, client = theirs) =>
      created(client.post(keys, { name: "made", membership_id }));
    const program = await newServiceAccount(world, "admin");
    const [made, ours] = [await makeFor(program), await makeFor(program, world.client)];
    const { api_key } = await created(theirs.post("/v1/orgs", { name: "Beta" }));
    const people = (await familyOf(world, leaked.keyId)).filter(({ type }) => type === "member");
    const ids = [first, second].map(({ membership }) => membership.membership_id);
    expect(people.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    await revokeFamily(world, leaked.keyId);
    for (const { id } of people) {
      const path = `${members}/${id}?descendants=revoke`;
      expect((await world.client.delete(path)).status).toBe(204);
    }
    const clients = [theirs, ...[second.api_key, made, api_key, ours].map(clientOf)];
    expect(await statusesOf(clients)).toEqual([401, 401, 401, 401, 200]);
  });

  it.each(["key", "session"])(
    "is ended with what a member has made by the %s of an admin, also after the member was removed",
    async (kind) => {
      const admin = await join(world, "admin");
      const by = kind === "key" ? admin : await signIn(admin);
      const [present, removed] = [await join(world, "admin"), await join(world, "admin")];
      const program = await newServiceAccount(world, "admin");
      const makeBy = ({ client }: Pick<Person, "client">) =>
        created(client.post(keys, { name: "made", membership_id: program }));
      const made = [await makeBy(present), await makeBy(removed)].map(clientOf);
      const kept = clientOf(await makeBy(by));
      expect((await by.client.delete(`${members}/${removed.membershipId}`)).status).toBe(204);
      expect(await statusesOf(made)).toEqual([200, 200]);
      for (const { membershipId } of [present, removed]) {
        const path = `${members}/${membershipId}?descendants=revoke`;
        expect((await by.client.delete(path)).status).toBe(204);
      }
      expect(await statusesOf([...made, kept, by.client])).toEqual([401, 401, 200, 200]);
    },
  );

  it.each(["removed", "erased"])(
    "names a person whom it has added after being %s, so that what that person made can be ended",
    async (how) => {
      const leaked = await newLeak(world);
      const body = { email: newEmail(), role: "admin" };
      const { url } = await created(leaked.client.post(invitations, body));
      const token = String(url.split("/").at(-1));
      const { membership, api_key } = await created(
        new Client(undefined).post("/v1/invitations/accept", { token }),
      );
      const theirs = clientOf(api_key);
      const forProgram = { name: "made", membership_id: await newServiceAccount(world, "admin") };
      const made = await created(theirs.post(keys, forProgram));
      const second = { email: newEmail(), name: "Second", role: "admin" };
      const added = await created(theirs.post(members, second));
      const left =
        how === "erased"
          ? await theirs.delete("/v1/account")
          : await leaked.client.delete(`${members}/${membership.membership_id}`);
      expect(left.status).toBe(204);
      const people = (await familyOf(world, leaked.keyId)).filter(({ type }) => type === "member");
      const ids = [membership.membership_id, added.membership_id];
      expect(people.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      await revokeFamily(world, leaked.keyId);
      expect(await statusesOf([theirs, clientOf(made)])).toEqual([401, 200]);
      for (const id of ids) {
        const path = `${members}/${id}?descendants=revoke`;
        expect((await world.client.delete(path)).status).toBe(204);
      }
      expect(await statusOf(clientOf(made))).toBe(401);
    },
  );

  it("is not needed for its sessions and sign-in links, which end with it", async () => {
    const leaked = await newLeak(world);
    const session = await signIn(leaked);
    const { url } = await created(leaked.client.post("/v1/sign-in-links", {}));
    expect((await world.client.delete(`${keys}/${leaked.keyId}`)).status).toBe(204);
    expect(await statusOf(session.client)).toBe(401);
    expect((await new Client(undefined).get(new URL(url).pathname)).status).toBe(404);
  });
});
