import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed, Reply } from "../../support/client.ts";
import { joinProject, newProtectedEnvironment, protect } from "../../support/protection.ts";
import {
  join,
  newDeployment,
  newInside,
  newKey,
  newServiceAccount,
  newStack,
  newWorld,
  type Person,
  signIn,
  type World,
} from "../../support/world.ts";

const OWNERS_DEPLOY = { access: { deploy: { role: "owner" } } };
const OWNERS_CONFIGURE = { access: { configure: { role: "owner" } } };
const DEPLOYERS =
  "Only owners of the project and admins of the organization may deploy to this environment.";
const CONFIGURERS =
  "Only owners of the project and admins of the organization may write the variables and the " +
  "configuration of this environment.";

let world: World;
let project: Parsed;
let environmentId: string;
let mona: Person;

beforeEach(async () => {
  world = await newWorld();
  ({ project, environmentId } = await newProtectedEnvironment(world, {}));
  mona = await joinProject(world, project.id, "contributor");
});

const environment = () => `/v1/environments/${environmentId}`;
const protection = () => `${environment()}/protection`;

const expectRefused = ({ status, body }: Reply, message: string) =>
  expect([status, body]).toMatchObject([403, { code: "forbidden", message }]);

const variable = (name: string) => ({ name, storage_method: "string", value: "x" });

describe("the rules of an environment", () => {
  it("are shown with their defaults, and have a version", async () => {
    const open = { deploy: { role: "contributor" }, configure: { role: "contributor" } };
    const first = await mona.client.get(protection());
    expect(first.body).toEqual({
      environment_id: environmentId,
      access: open,
    });
    const approvals = { required: 2, approvers: { role: "contributor" } };
    const replaced = await world.client.put(protection(), { approvals });
    expect(replaced.body).toEqual({
      environment_id: environmentId,
      access: { ...open, configure: { role: "owner" } },
      approvals: { ...approvals, prevent_self_approval: true, expires_after_seconds: 86_400 },
      approvers_verified_by: "identity_provider",
      updated_at: expect.stringMatching(/Z$/),
    });
    const stale = { "if-match": String(first.headers.get("etag")) };
    const refused = await world.client.request("PUT", protection(), {}, stale);
    expect([refused.status, refused.body.cause.etag]).toEqual([409, replaced.headers.get("etag")]);
    const { status } = await world.client.request(
      "PUT",
      protection(),
      {},
      {
        "if-match": String(replaced.headers.get("etag")),
      },
    );
    expect(status).toBe(200);
  });

  it("are for project owners and admins, with all that the person may do", async () => {
    const olga = await joinProject(world, project.id, "owner");
    const admin = await join(world, "admin");
    for (const { client } of [olga, admin, await signIn(olga)]) {
      expect((await client.put(protection(), OWNERS_DEPLOY)).status).toBe(200);
    }
    expect((await mona.client.put(protection(), {})).body.code).toBe("forbidden");
    const membershipId = await newServiceAccount(world, "admin");
    const { membershipId: owner } = olga;
    const keys = [
      await newKey(world, { membershipId, role: "admin" }),
      await newKey(world, {
        membershipId: owner,
        role: "member",
        scopes: ["environments:write"],
        isOwn: true,
      }),
      await newKey(world, {
        membershipId: owner,
        role: "member",
        environmentIds: [environmentId],
        isOwn: true,
      }),
      await newKey(world, {
        membershipId: owner,
        role: "member",
        expiresAt: Date.now() + 60_000,
        isOwn: true,
      }),
      await newKey(world, { membershipId: owner, role: "member", isOwn: false }),
    ];
    for (const { client } of keys) {
      const { status, body } = await client.put(protection(), {});
      expect([status, body.code]).toEqual([403, "unauthorized"]);
    }
  });

  it("name members of the organization, and people as approvers", async () => {
    const other = await newWorld();
    const stranger = { membership_ids: [other.membershipId] };
    const rules = (approvers: object) => ({ approvals: { required: 1, approvers } });
    for (const body of [rules(stranger), { access: { deploy: stranger } }]) {
      expect((await world.client.put(protection(), body)).status).toBe(404);
    }
    const program = { membership_ids: [await newServiceAccount(world)] };
    const refused = await world.client.put(protection(), rules(program));
    expect(refused.body.cause.issues).toEqual([
      {
        path: "approvals.approvers.membership_ids.0",
        message: "Send a person: programs approve nothing.",
      },
    ]);
    expect((await world.client.put(protection(), { access: { deploy: program } })).status).toBe(
      200,
    );
    for (const members of [{}, { role: "owner", ...program }, { role: "viewer" }]) {
      const { status, body } = await world.client.put(protection(), {
        access: { deploy: members },
      });
      expect([status, body.code]).toEqual([400, "bad_input"]);
    }
  });

  it("need 1 to 6 approvals, within a minute to 30 days", async () => {
    const rules = (fields: object) => ({
      approvals: { required: 1, approvers: { role: "owner" }, ...fields },
    });
    const statusOf = async (fields: object) =>
      (await world.client.put(protection(), rules(fields))).status;
    for (const required of [1, 6]) expect(await statusOf({ required })).toBe(200);
    for (const required of [0, 7, 1.5]) expect(await statusOf({ required })).toBe(400);
    for (const seconds of [60, 2_592_000])
      expect(await statusOf({ expires_after_seconds: seconds })).toBe(200);
    for (const seconds of [59, 2_592_001])
      expect(await statusOf({ expires_after_seconds: seconds })).toBe(400);
  });
});

describe("who may deploy", () => {
  it("creates, redeploys and promotes deployments, and changes stacks", async () => {
    const { id } = await newDeployment(mona.client, environmentId);
    const inside = await newInside(world.client, environmentId);
    await protect(world.client, environmentId, OWNERS_DEPLOY);
    const olga = await joinProject(world, project.id, "owner");
    const requests: [method: string, path: string, body: object][] = [
      ["POST", `${environment()}/deployments`, {}],
      ["POST", `/v1/deployments/${id}/redeploy`, {}],
      ["POST", `${environment()}/stacks`, { name: "new" }],
      ["PATCH", `/v1/stacks/${inside["stack_id"]}`, { name: "renamed" }],
    ];
    for (const [method, path, body] of requests) {
      expectRefused(await mona.client.request(method, path, body), DEPLOYERS);
      expect([path, (await olga.client.request(method, path, body)).status]).toEqual([
        path,
        method === "POST" ? 201 : 200,
      ]);
    }
    const { body: preview } = await mona.client.get(`/v1/deployments/${id}/redeployment`);
    expect(preview.error).toEqual({ code: "forbidden", message: DEPLOYERS });
    await world.client.patch(`/v1/deployments/${id}/cancel`);
    const other = `/v1/stacks/${inside["stack_id"]}`;
    expectRefused(await mona.client.delete(other), DEPLOYERS);
    // Stopping is nothing that a rule prevents.
    const { id: second } = await newDeployment(world.client, environmentId);
    expect((await mona.client.patch(`/v1/deployments/${second}/cancel`)).status).toBe(200);
  });

  it("is a list of members and programs, which gives no role", async () => {
    await newStack(world.client, environmentId);
    const bot = await newServiceAccount(world);
    const viewer = await joinProject(world, project.id, "viewer");
    await world.client.post(`/v1/projects/${project.id}/members`, {
      member_ids: [bot],
      role: "contributor",
    });
    const deploy = { membership_ids: [bot, viewer.membershipId, mona.membershipId] };
    await protect(world.client, environmentId, { access: { deploy } });
    const path = `${environment()}/deployments`;
    const program = await newKey(world, { membershipId: bot, role: "member" });
    for (const { client } of [mona, program])
      expect((await client.post(path, {})).status).toBe(201);
    expect((await viewer.client.post(path, {})).body.message).toContain("role contributor");
    const refused = await world.client.post(path, {});
    expect(refused.status).toBe(403);
    expect(refused.body.message).toMatch(/^Only "[^"]+", "[^"]+" and "[^"]+" may deploy/);
  });
});

describe("who may configure", () => {
  it("writes the configuration, variables and components", async () => {
    const inside = await newInside(world.client, environmentId);
    const component = `/v1/components/${inside["component_id"]}`;
    const { body: before } = await world.client.get(environment());
    await protect(world.client, environmentId, OWNERS_CONFIGURE);
    const requests: [method: string, path: string, body?: object][] = [
      ["PUT", environment(), { name: before.name, configuration: { replicas: 2 } }],
      ["POST", `${environment()}/variables`, variable("B")],
      ["PUT", `${environment()}/variables`, { mode: "merge", variables: [variable("C")] }],
      ["POST", `${component}/variables`, variable("D")],
      ["PUT", `${component}/variables`, { mode: "merge", variables: [variable("E")] }],
      ["PUT", `/v1/variables/${inside["variable_id"]}`, variable("A")],
      ["DELETE", `/v1/variables/${inside["variable_id"]}`],
      ["PATCH", component, { name: "renamed" }],
      ["DELETE", component],
    ];
    for (const [method, path, body] of requests) {
      expectRefused(await mona.client.request(method, path, body), CONFIGURERS);
      expect([method, path, (await world.client.request(method, path, body)).status]).toEqual([
        method,
        path,
        { POST: 201, DELETE: 204 }[method] ?? 200,
      ]);
    }
    expect((await mona.client.get(`${environment()}/variables`)).status).toBe(200);
  });

  it("are owners by default, with approvals", async () => {
    const path = `${environment()}/variables`;
    expect((await mona.client.post(path, variable("A"))).status).toBe(201);
    const approvals = { required: 1, approvers: { role: "contributor" } };
    await protect(world.client, environmentId, { approvals });
    expectRefused(await mona.client.post(path, variable("B")), CONFIGURERS);
    const access = { configure: { role: "contributor" } };
    await protect(world.client, environmentId, { approvals, access });
    expect((await mona.client.post(path, variable("B"))).status).toBe(201);
  });
});

describe("a protected environment", () => {
  it("is renamed and deleted by who may change its rules", async () => {
    const { body: staging } = await world.client.post(`/v1/projects/${project.id}/environments`, {
      name: "staging",
    });
    const path = `/v1/environments/${staging.id}`;
    expect((await mona.client.patch(path, { name: "stage" })).status).toBe(200);
    await protect(world.client, staging.id, OWNERS_DEPLOY);
    const olga = await joinProject(world, project.id, "owner");
    const program = await newKey(world, { isOwn: false });
    const requests: [method: string, path: string, body?: object][] = [
      ["PATCH", path, { name: "staging" }],
      ["PUT", path, { name: "preview", configuration: {} }],
      ["DELETE", path],
    ];
    for (const [method, at, body] of requests) {
      expect((await mona.client.request(method, at, body)).body.code).toBe("forbidden");
      expect((await program.client.request(method, at, body)).body.code).toBe("unauthorized");
      const { status } = await olga.client.request(method, at, body);
      expect([method, status]).toEqual([method, method === "DELETE" ? 204 : 200]);
    }
  });

  it("is deleted with its project only by such a credential", async () => {
    await protect(world.client, environmentId, OWNERS_DEPLOY);
    const path = `/v1/projects/${project.id}`;
    const program = await newKey(world, { isOwn: false });
    expect((await program.client.delete(path)).body.code).toBe("unauthorized");
    expect((await world.client.delete(path)).status).toBe(204);
  });
});

describe("who may not deploy", () => {
  it.each(["redeploy", "promote"])("is refused before documents are compared: %s", async (verb) => {
    const { id } = await newDeployment(world.client, environmentId);
    const environments = `/v1/projects/${project.id}/environments`;
    const { body: target } = await world.client.post(environments, { name: "target" });
    const deployed = verb === "promote" ? target.id : environmentId;
    await protect(world.client, deployed, OWNERS_DEPLOY);
    // Its comparison would fail.
    await env.DB.prepare("update deployments set configuration = '{broken' where id = ?")
      .bind(id)
      .run();
    const body = verb === "promote" ? { environment_id: target.id } : {};
    expectRefused(await mona.client.post(`/v1/deployments/${id}/${verb}`, body), DEPLOYERS);
  });
});
