import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
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
import { useShop } from "../../support/shop.ts";
import {
  CONNECTION,
  join,
  newDeployableProject,
  newDeployment,
  newKey,
  newServiceAccount,
  newWorld,
  signIn,
} from "../../support/world.ts";

const OWNERS = { required: 2, approvers: { role: "owner" } };

const shop = useShop({ approvals: OWNERS });

const list = async (client: Client, query = ""): Promise<Parsed[]> => {
  const reply = await client.get(`/v1/orgs/${shop.world.id}/approvals${query}`);
  expect([reply.status, reply.body.has_more]).toEqual([200, false]);
  return reply.body.data;
};

const idsOf = async (client: Client, query = "") =>
  (await list(client, query)).map(({ deployment_id }) => deployment_id);

describe("the deployments that wait for a person's approval", () => {
  it("are those that the person may approve and has not, with what is missing and by when", async () => {
    const source = { registry: { image: "shop:42" } };
    const { id, created_at, waiting_for } = await shop.deploy({
      source,
    });
    const olga = await shop.join("owner");
    const [item, ...others] = await list(olga.client);
    expect([item, others]).toEqual([
      {
        deployment_id: id,
        environment_id: shop.environmentId,
        environment_name: expect.any(String),
        project_id: shop.project.id,
        project_name: shop.project["name"],
        source,
        message: "0 of 2 approvals by owners of the project and admins of the organization.",
        expires_at: waiting_for[0].expires_at,
        created_at,
      },
      [],
    ]);
    expect(await idsOf(shop.world.client)).toEqual([id]);
    expect(await idsOf(shop.mona.client)).toEqual([]);
    await approve(olga.client, id);
    expect(await idsOf(olga.client)).toEqual([]);
    expect((await list(shop.world.client)).map(({ message }) => message)).toEqual([
      "1 of 2 approvals by owners of the project and admins of the organization.",
    ]);
    await approve(shop.world.client, id);
    expect(await idsOf(shop.world.client)).toEqual([]);
  });

  it("are nobody's own, and none of those that need no approval", async () => {
    await newDeployment(shop.world.client, shop.environmentId);
    expect(await idsOf(shop.world.client)).toEqual([]);
    const open = await newProtectedEnvironment(shop.world, { group: "production" });
    await newDeployment(shop.world.client, open.environmentId);
    const listed = await newProtectedEnvironment(shop.world, {
      approvals: { required: 1, approvers: { membership_ids: [shop.mona.membershipId] } },
    });
    const { id } = await newDeployment(shop.world.client, listed.environmentId);
    expect(await idsOf(shop.world.client)).toEqual([]);
    expect(await idsOf(shop.mona.client)).toEqual([]);
    await shop.world.client.post(`/v1/projects/${listed.project.id}/members`, {
      member_ids: [shop.mona.membershipId],
      role: "viewer",
    });
    expect(await idsOf(shop.mona.client)).toEqual([id]);
  });

  it("come back once what they would start is not what was approved, and go with a rejection", async () => {
    const { id } = await shop.deploy({
      patch: [{ op: "add", path: "/replicas", value: 3 }],
    });
    await approve(shop.world.client, id);
    expect(await idsOf(shop.world.client)).toEqual([]);
    const path = `/v1/environments/${shop.environmentId}`;
    const { body } = await shop.world.client.get(path);
    await shop.world.client.put(path, { name: body.name, configuration: { image: "shop:43" } });
    expect(await idsOf(shop.world.client)).toEqual([id]);
    await reject(shop.world.client, id, "Not today");
    expect(await idsOf(shop.world.client)).toEqual([]);
  });

  it("are gone again once the person has approved the changed content, and not by an earlier approval", async () => {
    const { id } = await shop.deploy({
      patch: [{ op: "add", path: "/replicas", value: 3 }],
    });
    const olga = await shop.join("owner");
    const path = `/v1/environments/${shop.environmentId}`;
    const { name } = (await shop.world.client.get(path)).body;
    const connection = { ...CONNECTION, account_id: "999999999999" };
    const changes = [
      () => shop.world.client.put(path, { name, configuration: { image: "shop:43" } }),
      () => shop.world.client.put(`/v1/projects/${shop.project.id}/connection`, connection),
      () => shop.world.client.put(path, { name, configuration: {} }),
    ];
    await approve(shop.world.client, id);
    for (const change of changes) {
      expect((await change()).status).toBe(200);
      // Stores the digests of what it results in, by which approvals may count again.
      await new Instrumented().sweep();
      expect(await idsOf(shop.world.client)).toEqual([id]);
      await approve(shop.world.client, id);
      expect(await idsOf(shop.world.client)).toEqual([]);
      expect((await list(olga.client)).map(({ message }) => message)).toEqual([
        "1 of 2 approvals by owners of the project and admins of the organization.",
      ]);
    }
  });

  it("are none whose time is over, also before the schedule has ended them", async () => {
    const { id, waiting_for } = await shop.deploy();
    const olga = await shop.join("owner");
    let now = Date.parse(waiting_for[0].expires_at) - 1;
    const worker = new Instrumented({ clock: { now: () => now } });
    const client = olga.client.via(worker.fetch);
    expect(await idsOf(client)).toEqual([id]);
    now += 1;
    expect(await idsOf(client)).toEqual([]);
  });

  it("are newest first, of all projects, or a single one", async () => {
    const { id: first } = await shop.deploy();
    const other = await newProtectedEnvironment(shop.world, { approvals: OWNERS });
    const nina = await joinProject(shop.world, other.project.id, "contributor");
    const { id: second } = await newDeployment(nina.client, other.environmentId);
    expect(await idsOf(shop.world.client)).toEqual([second, first]);
    expect(await idsOf(shop.world.client, `?deployment_id=${first}`)).toEqual([first]);
    expect(await idsOf(shop.world.client, `?deployment_id=${shop.world.id}`)).toEqual([]);
  });

  it("are all of those that were created in the same millisecond", async () => {
    const { id } = await shop.deploy();
    const copies = await copyRow(shop.world.id, "deployments", id, newIdsOf(50), {
      number: "source.number + 1 + item.key",
      created_at: "source.created_at",
    });
    const found = await idsOf(shop.world.client);
    expect(found.toSorted()).toEqual([id, ...copies].toSorted());
  });

  it("are not hidden by hundreds that others have to approve", async () => {
    const { id } = await shop.deploy();
    const olga = await shop.join("viewer");
    const rules = [
      { approvers: { membership_ids: [olga.membershipId] } },
      { approvers: { role: "contributor" } },
    ];
    for (const [at, rule] of rules.entries()) {
      const other = await newProtectedEnvironment(shop.world, {
        approvals: { required: 1, ...rule },
      });
      const nina = await joinProject(shop.world, other.project.id, "contributor");
      const creator = at === 0 ? nina.client : shop.world.client;
      const { id: held } = await newDeployment(creator, other.environmentId);
      await copyRow(shop.world.id, "deployments", held, newIdsOf(LIMITS.pendingApprovals.value), {
        number: "source.number + 1 + item.key",
        created_at: "source.created_at + 1 + item.key",
      });
      expect((await idsOf(nina.client)).length).toBe(at * LIMITS.pendingApprovals.value);
    }
    expect(await idsOf(shop.world.client)).toEqual([id]);
  });

  it("are none without the project, for a program, a narrowed key, or another organization", async () => {
    const { id } = await shop.deploy();
    const stranger = await join(shop.world);
    const robot = await newServiceAccount(shop.world, "admin");
    const keys = await Promise.all([
      newKey(shop.world, { membershipId: robot, role: "admin", isOwn: false }),
      newKey(shop.world, { isOwn: false }),
      newKey(shop.world, { isOwn: true, scopes: ["deployments:read"] }),
    ]);
    for (const { client } of [stranger, ...keys]) expect(await idsOf(client)).toEqual([]);
    expect(await idsOf((await signIn(shop.world)).client)).toEqual([id]);
    const bounded = await newKey(shop.world, { isOwn: true, projectIds: [shop.project.id] });
    for (const { client } of [bounded, await newWorld()])
      expect((await client.get(`/v1/orgs/${shop.world.id}/approvals`)).status).toBe(404);
  });

  it("are read in statements of at most 50 ms, also if each has 500 stacks and an approval", async () => {
    const stacks = LIMITS.stacksOfEnvironment.value;
    const { id } = await shop.deploy();
    const [olga, oscar] = [await shop.join("owner"), await shop.join("owner")];
    expect((await approve(olga.client, id)).status).toBe(201);
    const count = LIMITS.pendingApprovals.value;
    const stackIds = await copyRow(shop.world.id, "stacks", undefined, newIdsOf(stacks - 1), {
      name: "'copy-' || item.key",
    });
    const source = { org_id: shop.world.id, deployment_id: id };
    const queued = { status: "'queued'", announced: "'queued'" };
    const added = await addDeployments(shop.world, source, count, stackIds, queued);
    await copyRow(shop.world.id, "deployment_approvals", undefined, newIdsOf(count), {
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
    const { id } = await shop.deploy();
    const frozen = await newDeployableProject(shop.world);
    await protect(shop.world.client, frozen.environmentId, {
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
    const { id: held } = await newDeployment(shop.world.client, frozen.environmentId);
    const worker = new Instrumented();
    const client = shop.world.client.via(worker.fetch);
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
    await copyRow(shop.world.id, "deployments", held, newIdsOf(copies), {
      number: "source.number + 1 + item.key",
      created_at: "source.created_at + 1 + item.key",
    });
    const after = await measure();
    // Of each: its entry in the index, itself, its place, and its environment with its rules.
    expect(after - before).toBeLessThanOrEqual(8 * copies);
    expect(after - before).toBeGreaterThan(copies);
  });
});
