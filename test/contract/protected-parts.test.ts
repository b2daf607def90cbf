import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import page from "../../docs/protection.md?raw";
import { openForWriting } from "../../src/db/client.ts";
import { findProtectedEnvironment } from "../../src/features/tenancy/index.ts";
import { PROTECTED_PARTS, type ProtectedPart } from "../../src/lib/protected-parts.ts";
import { SCOPES } from "../../src/lib/scopes.ts";
import type { Reply } from "../support/client.ts";
import type { Operation } from "../support/contract.ts";
import { Instrumented } from "../support/instruments.ts";
import { type Fixture, isRead, prepare, withApiKey } from "../support/operation-requests.ts";
import { joinProject, protect } from "../support/protection.ts";
import { queryPlans } from "../support/query-plans.ts";
import { newKey, newProject, newServiceAccount, newWorld, type Person } from "../support/world.ts";

const writes = withApiKey.filter((each) => !isRead(each));
const partsOf = (operation: Operation): readonly ProtectedPart[] => operation["x-protected"] ?? [];

interface Case {
  operation: Operation;
  part: ProtectedPart;
}

const CASES = writes.flatMap((operation) =>
  partsOf(operation).map((part) => ({ operation, part })),
);
const needs = ({ part }: Case) => PROTECTED_PARTS[part].needs;
const hasReach = ({ part }: Case) => "reach" in PROTECTED_PARTS[part];
const named = (each: Case) => [`${each.operation.operationId} (${each.part})`, each] as const;

/** The operations that change nothing which rules depend on, with the reason. */
const WITHOUT: Record<string, string> = {
  createOrganization: "It has no environment yet.",
  updateOrganization: "No rule names the organization.",
  deleteOrganization: "It always needs a full credential.",
  addMember: "It always needs a full credential.",
  removeMember: "What only ends access is never refused for its credential.",
  createInvitation: "It always needs a full credential.",
  revokeInvitation: "It only ends access.",
  updateAccount: "It always needs a full credential.",
  deleteAccount: "It always needs a full credential.",
  updateApiKey: "A key only ever loses.",
  revokeApiKey: "It only ends access.",
  putApiKeyPolicy: "No rule depends on the age of keys.",
  revokeSession: "It only ends access.",
  revokeMemberSession: "It only ends access.",
  createSignInLink: "The session has what the key has.",
  revokeRunnerToken: "It only ends access.",
  createProject: "It has no protected environment yet.",
  replaceProject: "No rule names the project.",
  updateProject: "No rule names the project.",
  createEnvironment: "It is not protected yet.",
  orderEnvironments: "No rule depends on the order.",
  reportAlarm: "An alarm is an observation.",
  cancelDeployment: "It only ends a deployment.",
  previewDeployment: "It writes nothing.",
  createApproval: "Its own rule says who may approve.",
  overrideDeployment: "Its own rule says who may override.",
  createIntegration: "No rule depends on notifications.",
  updateIntegration: "No rule depends on notifications.",
  deleteIntegration: "No rule depends on notifications.",
  rotateIntegrationSecret: "No rule depends on notifications.",
  confirmIntegration: "No rule depends on notifications.",
  resumeIntegration: "No rule depends on notifications.",
  redeliver: "No rule depends on notifications.",
  pingIntegration: "No rule depends on notifications.",
  createRecovery: "No rule depends on notifications.",
  revealVariable: "It changes nothing.",
  revealComponentVariables: "It changes nothing.",
  revealEnvironmentVariables: "It changes nothing.",
  exportAuditLog: "It changes nothing.",
};

it("every operation that writes says which part of a protected environment it changes, except for these", () => {
  const without = writes.filter((each) => partsOf(each).length === 0);
  expect(without.map(({ operationId }) => operationId).toSorted()).toEqual(
    Object.keys(WITHOUT).toSorted(),
  );
  expect(Object.keys(PROTECTED_PARTS).toSorted()).toEqual(
    [...new Set(CASES.map(({ part }) => part))].toSorted(),
  );
});

it("docs/protection.md lists every part with what it needs, and the operations that change it", () => {
  const rows = [...page.matchAll(/^\| ([^|]+?) \| `(deploy|configure|full)`, (.+?) \| (.+) \|$/gm)];
  const shown = rows.map(([, part, need, reach, ids]) => [part, need, reach, ids]);
  const expected = Object.entries(PROTECTED_PARTS).map(([part, value]) => [
    part,
    value.needs,
    WHERE["reach" in value ? value.reach : "always"],
    CASES.filter((each) => each.part === part)
      .map(({ operation }) => `\`${operation.operationId}\``)
      .toSorted()
      .join(", "),
  ]);
  expect(shown).toEqual(expected);
});

const WHERE = {
  always: "always",
  environment: "in a protected environment",
  project: "in a project with a protected environment",
  organization: "where it concerns a protected environment",
};

/** A change in place of the example of the document, which may be about the caller, or change nothing. */
const BODIES: Record<string, (fixture: Fixture) => object> = {
  replaceMember: () => ({ role: "member" }),
  createApiKey: ({ ids }) => ({ name: "for another", membership_id: ids["membership_id"] }),
  "replaceEnvironment (the environment and its name)": () => ({
    name: "renamed",
    configuration: {},
  }),
  "replaceEnvironment (configuration)": () => ({ name: "other", configuration: { replicas: 2 } }),
};

function prepareCase(each: Case, isProtected: boolean, newCaller: (f: Fixture) => Promise<Person>) {
  const { operation, part } = each;
  const { operationId } = operation;
  const body = BODIES[operationId] ?? BODIES[`${operationId} (${part})`];
  return prepare(operation, "api_key", {
    newCaller,
    needsOwnFixture: true,
    special: {
      ...(body && { body }),
      prepare: async ({ world, environmentId, ids }) => {
        const member = `/v1/orgs/${world.id}/members/${ids["member_id"]}`;
        if (operationId === "replaceMember") await world.client.put(member, { role: "admin" });
        if (!isProtected) return;
        const owners = { role: "owner" };
        await protect(world.client, environmentId, {
          access: { deploy: owners, configure: owners },
        });
      },
    },
  });
}

async function replyOf(
  each: Case,
  isProtected: boolean,
  newCaller: (fixture: Fixture) => Promise<Person>,
): Promise<Reply> {
  return (await prepareCase(each, isProtected, newCaller)).send();
}

const OTHERS: Record<string, (fixture: Fixture) => Promise<Person>> = {
  "a key with scopes, of an owner": ({ world }) => newKey(world, { scopes: [...SCOPES] }),
  "a key that another has made, of an owner": ({ world }) => newKey(world, { isOwn: false }),
  "a key of a program, which is an admin": async ({ world }) => {
    const membershipId = await newServiceAccount(world, "admin");
    return newKey(world, { membershipId, role: "admin", isOwn: false });
  },
};

/** A narrowed key and that of a program rotate only themselves, whatever is protected. */
const othersOf = ({ operation }: Case) =>
  Object.entries(OTHERS).filter(
    ([name]) => operation.operationId !== "rotateApiKey" || name.includes("another has made"),
  );

const FULL = CASES.filter((each) => needs(each) === "full");

it.each(FULL.map(named))("%s is refused to every credential that is not full", async (_, each) => {
  for (const [name, newCaller] of othersOf(each)) {
    const { status, body } = await replyOf(each, true, newCaller);
    expect([status, body?.code], name).toEqual([403, "unauthorized"]);
    const refusal = hasReach(each)
      ? 'This needs a full credential, because the environment "other" is protected: a key that the person has made'
      : "a key that the person has made, with the whole role";
    expect(body?.message, name).toContain(refusal);
  }
  const full = await replyOf(each, true, ({ world }) => newKey(world, { isOwn: true }));
  expect(full.status, full.text).toBeLessThan(300);
});

it.each(FULL.filter(hasReach).map(named))(
  "%s is open to every credential where nothing is protected",
  async (_, each) => {
    for (const [name, newCaller] of othersOf(each)) {
      const { status, text } = await replyOf(each, false, newCaller);
      expect(status, `${name}: ${text}`).toBeLessThan(300);
    }
  },
);

it.each(CASES.filter((each) => needs(each) !== "full").map(named))(
  "%s is for those whom the rules name, and for every contributor where nothing is protected",
  async (_, each) => {
    const contributor = ({ world, project }: Fixture) =>
      joinProject(world, project.id, "contributor");
    const refused = await replyOf(each, true, contributor);
    const who = "Only owners of the project and admins of the organization may";
    expect([refused.status, refused.body?.code]).toEqual([403, "forbidden"]);
    expect(refused.body?.message).toContain(who);
    const owner = await replyOf(each, true, ({ world }) => newKey(world, { isOwn: true }));
    expect(owner.status, owner.text).toBeLessThan(300);
    const open = await replyOf(each, false, contributor);
    expect(open.status, open.text).toBeLessThan(300);
  },
);

describe("what belongs to the organization", () => {
  const NEEDS = "This needs a full credential, because";
  const newName = () => `name-${crypto.randomUUID()}`;

  it("concerns what is within its boundaries, and everything without boundaries", async () => {
    const world = await newWorld();
    const [guarded, open] = [await newProject(world.client), await newProject(world.client)];
    const protectedId = guarded.default_environment_id;
    const siblings = `/v1/projects/${guarded.id}/environments`;
    const { body: sibling } = await world.client.post(siblings, { name: "sibling" });
    await protect(world.client, protectedId, { access: { deploy: { role: "owner" } } });
    const membership_id = await newServiceAccount(world);
    const { client } = await newKey(world, { isOwn: false });
    const outside = [
      { environment_ids: [sibling.id] },
      { environment_ids: [open.default_environment_id] },
      { project_ids: [open.id] },
    ];
    const inside = [
      {},
      { project_ids: [guarded.id] },
      { project_ids: [open.id, guarded.id] },
      { environment_ids: [sibling.id, protectedId] },
    ];
    const create = (boundaries: object) =>
      client.post(`/v1/orgs/${world.id}/api-keys`, { name: newName(), ...boundaries });
    for (const boundaries of outside) {
      const reply = await create({ membership_id, role: "member", ...boundaries });
      expect(reply.status, reply.text).toBe(201);
    }
    for (const boundaries of inside) {
      const reply = await create({ membership_id, role: "member", ...boundaries });
      expect(reply.body.message).toContain(NEEDS);
    }
    // What it gives its own membership is no more than it has.
    expect((await create({ role: "owner" })).status).toBe(201);
  });

  it("concerns the environments that a runner pool has, gets and loses", async () => {
    const world = await newWorld();
    const project = await newProject(world.client);
    const { default_environment_id: openId } = project;
    const environments = `/v1/projects/${project.id}/environments`;
    const { body: guarded } = await world.client.post(environments, { name: "guarded" });
    await protect(world.client, guarded.id, { access: { deploy: { role: "owner" } } });
    const { client } = await newKey(world, { isOwn: false });
    const pools = `/v1/orgs/${world.id}/runner-pools`;
    const fields = { name: newName(), environment_ids: [openId] };
    const { status, body: pool } = await client.post(pools, fields);
    expect(status).toBe(201);
    const path = `${pools}/${pool.id}`;
    const [both, own] = [{ environment_ids: [guarded.id, openId] }, { environment_ids: [openId] }];
    const createToken = () => client.post(`${path}/tokens`, { name: newName() });
    expect((await client.patch(path, { name: newName() })).status).toBe(200);
    expect((await createToken()).status).toBe(201);
    expect((await client.patch(path, both)).body.message).toContain(NEEDS);
    expect((await world.client.patch(path, both)).status).toBe(200);
    expect((await client.patch(path, own)).body.message).toContain(NEEDS);
    expect((await createToken()).body.message).toContain(NEEDS);
  });

  it("is open again once the rules are removed", async () => {
    const world = await newWorld();
    const { default_environment_id: id } = await newProject(world.client);
    const { client } = await newKey(world, { isOwn: false });
    const create = () =>
      client.post(`/v1/orgs/${world.id}/service-accounts`, { name: newName(), role: "member" });
    await protect(world.client, id, { group: "production" });
    expect((await create()).status).toBe(403);
    await protect(world.client, id, {});
    expect((await create()).status).toBe(201);
  });

  it("is looked up by an index, and only for a credential that is not full", async () => {
    const places = [
      { projectIds: null, environmentIds: null },
      { projectIds: ["a"], environmentIds: null },
      { projectIds: ["a"], environmentIds: ["b"] },
    ];
    const { db } = openForWriting(env.DB);
    const plans = await queryPlans(
      places.map((place) => findProtectedEnvironment(db, "organization", place).toSQL()),
    );
    expect(plans.flat().filter((detail) => /^SCAN (protection|place)/.test(detail))).toEqual([]);
    const world = await newWorld();
    const count = async (isOwn: boolean) => {
      const worker = new Instrumented();
      const client = (await newKey(world, { isOwn })).client.via(worker.fetch);
      await client.get("/v1/orgs");
      worker.forget();
      const path = `/v1/orgs/${world.id}/service-accounts`;
      await client.post(path, { name: newName(), role: "member" });
      return worker.database.length;
    };
    expect(await count(false)).toBe((await count(true)) + 1);
  });
});
