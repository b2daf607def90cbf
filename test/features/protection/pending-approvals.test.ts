import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { unitsOf } from "../../../src/lib/database-units.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Client, Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { addDeployments, copyRow, newIdsOf } from "../../support/long-lists.ts";
import { MOST_UNITS } from "../../support/many-credentials.ts";
import {
  approve,
  joinProject,
  newProtectedEnvironment,
  protect,
  reject,
} from "../../support/protection.ts";
import {
  CONNECTION,
  join,
  newDeployableProject,
  newDeployment,
  newKey,
  newServiceAccount,
  newWorld,
  type Person,
  signIn,
  type World,
} from "../../support/world.ts";

let world: World;
let project: Parsed;
let environmentId: string;
let mona: Person;

const OWNERS = { required: 2, approvers: { role: "owner" } };

beforeEach(async () => {
  world = await newWorld();
  ({ project, environmentId } = await newProtectedEnvironment(world, { approvals: OWNERS }));
  mona = await joinProject(world, project.id, "contributor");
});

const list = async (client: Client, query = ""): Promise<Parsed[]> => {
  const reply = await client.get(`/v1/orgs/${world.id}/approvals${query}`);
  expect([reply.status, reply.body.has_more]).toEqual([200, false]);
  return reply.body.data;
};

const idsOf = async (client: Client, query = "") =>
  (await list(client, query)).map(({ deployment_id }) => deployment_id);

describe("the deployments that wait for a person's approval", () => {
  it("are those that the person may approve and has not, with what is missing and by when", async () => {
    const source = { registry: { image: "shop:42" } };
    const { id, created_at, waiting_for } = await newDeployment(mona.client, environmentId, {
      source,
    });
    const olga = await joinProject(world, project.id, "owner");
    const [item, ...others] = await list(olga.client);
    expect([item, others]).toEqual([
      {
        deployment_id: id,
        environment_id: environmentId,
        environment_name: expect.any(String),
        project_id: project.id,
        project_name: project["name"],
        source,
        message: "0 of 2 approvals by owners of the project and admins of the organization.",
        expires_at: waiting_for[0].expires_at,
        created_at,
      },
      [],
    ]);
    expect(await idsOf(world.client)).toEqual([id]);
    expect(await idsOf(mona.client)).toEqual([]);
    await approve(olga.client, id);
    expect(await idsOf(olga.client)).toEqual([]);
    expect((await list(world.client)).map(({ message }) => message)).toEqual([
      "1 of 2 approvals by owners of the project and admins of the organization.",
    ]);
    await approve(world.client, id);
    expect(await idsOf(world.client)).toEqual([]);
  });

  it("are nobody's own, and none of those that need no approval", async () => {
    await newDeployment(world.client, environmentId);
    expect(await idsOf(world.client)).toEqual([]);
    const open = await newProtectedEnvironment(world, { group: "production" });
    await newDeployment(world.client, open.environmentId);
    const listed = await newProtectedEnvironment(world, {
      approvals: { required: 1, approvers: { membership_ids: [mona.membershipId] } },
    });
    const { id } = await newDeployment(world.client, listed.environmentId);
    expect(await idsOf(world.client)).toEqual([]);
    expect(await idsOf(mona.client)).toEqual([]);
    await world.client.post(`/v1/projects/${listed.project.id}/members`, {
      member_ids: [mona.membershipId],
      role: "viewer",
    });
    expect(await idsOf(mona.client)).toEqual([id]);
  });

  it("come back once what they would start is not what was approved, and go with a rejection", async () => {
    const { id } = await newDeployment(mona.client, environmentId, {
      patch: [{ op: "add", path: "/replicas", value: 3 }],
    });
    await approve(world.client, id);
    expect(await idsOf(world.client)).toEqual([]);
    const path = `/v1/environments/${environmentId}`;
    const { body } = await world.client.get(path);
    await world.client.put(path, { name: body.name, configuration: { image: "shop:43" } });
    expect(await idsOf(world.client)).toEqual([id]);
    await reject(world.client, id, "Not today");
    expect(await idsOf(world.client)).toEqual([]);
  });

  it("are gone again once the person has approved the changed content, and not by an earlier approval", async () => {
    const { id } = await newDeployment(mona.client, environmentId, {
      patch: [{ op: "add", path: "/replicas", value: 3 }],
    });
    const olga = await joinProject(world, project.id, "owner");
    const path = `/v1/environments/${environmentId}`;
    const { name } = (await world.client.get(path)).body;
    const connection = { ...CONNECTION, account_id: "999999999999" };
    const changes = [
      () => world.client.put(path, { name, configuration: { image: "shop:43" } }),
      () => world.client.put(`/v1/projects/${project.id}/connection`, connection),
      () => world.client.put(path, { name, configuration: {} }),
    ];
    await approve(world.client, id);
    for (const change of changes) {
      expect((await change()).status).toBe(200);
      // Stores the digests of what it results in, by which approvals may count again.
      await new Instrumented().sweep();
      expect(await idsOf(world.client)).toEqual([id]);
      await approve(world.client, id);
      expect(await idsOf(world.client)).toEqual([]);
      expect((await list(olga.client)).map(({ message }) => message)).toEqual([
        "1 of 2 approvals by owners of the project and admins of the organization.",
      ]);
    }
  });

  it("are newest first, of all projects, or a single one", async () => {
    const { id: first } = await newDeployment(mona.client, environmentId);
    const other = await newProtectedEnvironment(world, { approvals: OWNERS });
    const nina = await joinProject(world, other.project.id, "contributor");
    const { id: second } = await newDeployment(nina.client, other.environmentId);
    expect(await idsOf(world.client)).toEqual([second, first]);
    expect(await idsOf(world.client, `?deployment_id=${first}`)).toEqual([first]);
    expect(await idsOf(world.client, `?deployment_id=${world.id}`)).toEqual([]);
  });

  it("are not hidden by hundreds that others have to approve", async () => {
    const { id } = await newDeployment(mona.client, environmentId);
    const olga = await joinProject(world, project.id, "viewer");
    const rules = [
      { approvers: { membership_ids: [olga.membershipId] } },
      { approvers: { role: "contributor" } },
    ];
    for (const [at, rule] of rules.entries()) {
      const other = await newProtectedEnvironment(world, { approvals: { required: 1, ...rule } });
      const nina = await joinProject(world, other.project.id, "contributor");
      const creator = at === 0 ? nina.client : world.client;
      const { id: held } = await newDeployment(creator, other.environmentId);
      await copyRow(world.id, "deployments", held, newIdsOf(LIMITS.pendingApprovals.value), {
        number: "source.number + 1 + item.key",
        created_at: "source.created_at + 1 + item.key",
      });
      expect((await idsOf(nina.client)).length).toBe(at * LIMITS.pendingApprovals.value);
    }
    expect(await idsOf(world.client)).toEqual([id]);
  });

  it("are none without the project, for a program, a narrowed key, or another organization", async () => {
    const { id } = await newDeployment(mona.client, environmentId);
    const stranger = await join(world);
    const robot = await newServiceAccount(world, "admin");
    const keys = await Promise.all([
      newKey(world, { membershipId: robot, role: "admin", isOwn: false }),
      newKey(world, { isOwn: false }),
      newKey(world, { isOwn: true, scopes: ["deployments:read"] }),
    ]);
    for (const { client } of [stranger, ...keys]) expect(await idsOf(client)).toEqual([]);
    expect(await idsOf((await signIn(world)).client)).toEqual([id]);
    const bounded = await newKey(world, { isOwn: true, projectIds: [project.id] });
    for (const { client } of [bounded, await newWorld()])
      expect((await client.get(`/v1/orgs/${world.id}/approvals`)).status).toBe(404);
  });

  it("are read in statements of at most 50 ms, also if each has 500 stacks and an approval", async () => {
    const stacks = LIMITS.stacksOfEnvironment.value;
    const { id } = await newDeployment(mona.client, environmentId);
    const [olga, oscar] = [
      await joinProject(world, project.id, "owner"),
      await joinProject(world, project.id, "owner"),
    ];
    expect((await approve(olga.client, id)).status).toBe(201);
    const count = LIMITS.pendingApprovals.value;
    const stackIds = await copyRow(world.id, "stacks", undefined, newIdsOf(stacks - 1), {
      name: "'copy-' || item.key",
    });
    const source = { org_id: world.id, deployment_id: id };
    const queued = { status: "'queued'", announced: "'queued'" };
    const added = await addDeployments(world, source, count, stackIds, queued);
    await copyRow(world.id, "deployment_approvals", undefined, newIdsOf(count), {
      deployment_id: `'${JSON.stringify(added)}' ->> item.key`,
    });
    const worker = new Instrumented();
    expect(await idsOf(oscar.client.via(worker.fetch))).toHaveLength(count);
    const reads = worker.database.filter(({ statements }) =>
      statements.some(({ sql }) => sql.includes("approvals")),
    );
    expect(reads.length).toBeGreaterThan(3);
    for (const { statements } of reads) {
      for (const { sql, params } of statements) {
        const { meta } = await env.DB.prepare(sql)
          .bind(...params)
          .all();
        expect(unitsOf(meta)).toBeLessThanOrEqual(MOST_UNITS);
      }
    }
  });

  it("are read with a bounded number of rows while hundreds wait for something else", async () => {
    const { id } = await newDeployment(mona.client, environmentId);
    const frozen = await newDeployableProject(world);
    await protect(world.client, frozen.environmentId, {
      windows: {
        time_zone: "UTC",
        weekly: [
          {
            days: [new Date().getUTCDay() === 1 ? "thursday" : "monday"],
            from: "00:00",
            to: "00:01",
          },
        ],
      },
    });
    const { id: held } = await newDeployment(world.client, frozen.environmentId);
    const worker = new Instrumented();
    const client = world.client.via(worker.fetch);
    const measure = async () => {
      worker.forget();
      expect(await idsOf(client)).toEqual([id]);
      const { sql = "", params = [] } = worker.database.at(-1)?.statements[0] ?? {};
      const { meta } = await env.DB.prepare(sql)
        .bind(...params)
        .all();
      return meta.rows_read;
    };
    const before = await measure();
    const copies = 300;
    await copyRow(world.id, "deployments", held, newIdsOf(copies), {
      number: "source.number + 1 + item.key",
      created_at: "source.created_at + 1 + item.key",
    });
    const after = await measure();
    // Of each: its entry in the index, itself, its place, and its environment with its rules.
    expect(after - before).toBeLessThanOrEqual(8 * copies);
    expect(after - before).toBeGreaterThan(copies);
  });
});
