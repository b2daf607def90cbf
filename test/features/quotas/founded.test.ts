import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { openForWriting } from "../../../src/db/client.ts";
import { selectExceeded } from "../../../src/features/housekeeping/usage/growth.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { QUOTAS } from "../../../src/lib/resource-types.ts";
import { Client, type Reply } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { join, newProject, newWorld, type World } from "../../support/world.ts";

const HALF_BYTES = LIMITS.storedBytes.value / 2;
const HALF_PROJECTS = QUOTAS.projects / 2;

let founder: World;

beforeEach(async () => {
  founder = await newWorld();
});

interface Founded {
  id: string;
  client: Client;
}

async function found({ client }: { client: Client }): Promise<Founded> {
  const { status, body } = await client.post("/v1/orgs", { name: "Founded" });
  expect(status).toBe(201);
  return { id: String(body.id), client: new Client(body.api_key.key) };
}

const setUsage = (id: string, kind: string, column: "records" | "bytes", value: number) =>
  env.DB.prepare(
    `insert into usage (organization_id, kind, records, bytes) values (?1, ?2, 0, 0)
      on conflict do update set ${column} = ?3`,
  )
    .bind(id, kind, value)
    .run()
    .then(() =>
      env.DB.prepare(`update usage set ${column} = ?3 where organization_id = ?1 and kind = ?2`)
        .bind(id, kind, value)
        .run(),
    );

const setQuota = (id: string, kind: string, allowed: number) =>
  env.DB.prepare("insert or replace into quotas values (?, ?, ?)").bind(id, kind, allowed).run();

const usedBytes = async (id: string) =>
  Number(
    await env.DB.prepare("select sum(bytes) from usage where organization_id = ?")
      .bind(id)
      .first("sum(bytes)"),
  );

/** So that the organization stores this many bytes. */
async function fill(id: string, bytes: number): Promise<void> {
  const used = await usedBytes(id);
  await env.DB.prepare(
    "update usage set bytes = bytes + ? where organization_id = ? and kind = 'projects'",
  )
    .bind(bytes - used, id)
    .run();
}

/** A write that adds one byte each time. */
async function oneByteMore({ client }: { client: Client }) {
  const { id } = await newProject(client, { description: "x" });
  let description = "x";
  return (): Promise<Reply> => {
    description += "x";
    return client.patch(`/v1/projects/${id}`, { description });
  };
}

const create = ({ client }: { client: Client }) => client.post("/v1/projects", { name: newName() });
const newName = () => crypto.randomUUID();

function expectRefused({ status, body }: Reply, what: string): void {
  expect([status, body.code]).toEqual([409, "conflict"]);
  expect(body.message).toContain(`${what} in all organizations of the same founder`);
}

describe("organizations that keys have founded", () => {
  it("store together at most half of their founder's bytes, whoever's key has founded them", async () => {
    const member = await join(founder);
    const mine = await found(founder);
    const theirs = await found(member);
    const grandchild = await found(theirs);
    const elsewhere = await found(await newWorld());
    const writes = new Map<Founded | World, () => Promise<Reply>>();
    for (const each of [mine, theirs, grandchild, elsewhere, founder])
      writes.set(each, await oneByteMore(each));
    const write = (each: Founded | World) => writes.get(each)?.() as Promise<Reply>;
    const others = (await usedBytes(grandchild.id)) + HALF_BYTES / 4;
    await fill(theirs.id, HALF_BYTES / 4);
    await fill(mine.id, HALF_BYTES - others - 1);
    expect((await write(theirs)).status).toBe(200);
    for (const each of [mine, theirs, grandchild]) {
      expectRefused(await write(each), `${HALF_BYTES} bytes`);
    }
    expect((await write(elsewhere)).status).toBe(200);
    await fill(founder.id, LIMITS.storedBytes.value - 1);
    expect((await write(founder)).status).toBe(200);
    const refused = await write(founder);
    expect(refused.body.message).toContain(`The limit of ${LIMITS.storedBytes.value} bytes is`);
    await fill(mine.id, HALF_BYTES / 4);
    expect((await write(grandchild)).status).toBe(200);
  });

  it("have together at most half of each quota of resources, and each its own", async () => {
    const [one, other] = [await found(founder), await found(founder)];
    await setUsage(one.id, "projects", "records", 300);
    await setUsage(other.id, "projects", "records", HALF_PROJECTS - 301);
    expect((await create(one)).status).toBe(201);
    for (const each of [one, other]) expectRefused(await create(each), `${HALF_PROJECTS} projects`);
    expect((await create(founder)).status).toBe(201);
    await setUsage(founder.id, "projects", "records", QUOTAS.projects - 1);
    expect((await create(founder)).status).toBe(201);
    expect((await create(founder)).status).toBe(409);
    await setUsage(other.id, "projects", "records", 0);
    await setQuota(one.id, "projects", 302);
    expect((await create(one)).status).toBe(201);
    const refused = await create(one);
    expect(refused.body.message).toContain("The limit of 302 projects is");
    expect((await create(other)).status).toBe(201);
  });

  it("have half of the quotas that an operator has given their founder", async () => {
    const founded = await found(founder);
    await setUsage(founded.id, "projects", "records", 2);
    await setQuota(founder.id, "projects", 7);
    expect((await create(founded)).status).toBe(201);
    expectRefused(await create(founded), "3 projects");
    await setQuota(founder.id, "projects", 4_000);
    expect((await create(founded)).status).toBe(201);
    await setUsage(founded.id, "projects", "records", QUOTAS.projects);
    expect((await create(founded)).body.message).toContain(
      `The limit of ${QUOTAS.projects} projects is`,
    );
  });

  it("have their own once their founder is deleted", async () => {
    const [one, other] = [await found(founder), await found(founder)];
    await setUsage(other.id, "projects", "records", HALF_PROJECTS);
    expect((await create(one)).status).toBe(409);
    expect((await founder.client.delete(`/v1/orgs/${founder.id}`)).status).toBe(204);
    expect((await create(one)).status).toBe(201);
    await setUsage(other.id, "projects", "records", QUOTAS.projects - 1);
    expect((await create(other)).status).toBe(201);
    expect((await create(other)).status).toBe(409);
  });

  it("have their own if the first organization has founded them", async () => {
    await env.DB.batch([
      env.DB.prepare("delete from bootstraps"),
      env.DB.prepare("insert into bootstraps values (1, ?, 0)").bind(founder.id),
    ]);
    const [one, other] = [await found(founder), await found(founder)];
    await setUsage(one.id, "projects", "records", QUOTAS.projects - 1);
    await setUsage(other.id, "projects", "records", QUOTAS.projects - 1);
    for (const each of [one, other]) {
      expect((await create(each)).status).toBe(201);
      expect((await create(each)).status).toBe(409);
    }
  });

  it("count toward the founder's until they are purged, and are at most 100", async () => {
    const limit = LIMITS.foundedOrganizations.value;
    const ids = Array.from({ length: limit - 1 }, () => newId(systemClock));
    await env.DB.prepare(
      `insert into organizations (id, name, created_at, updated_at, limits_organization_id)
        select value, 'F', 0, 0, ?2 from json_each(?1)`,
    )
      .bind(JSON.stringify(ids), founder.id)
      .run();
    const last = await found(founder);
    const refusedBy = async ({ client }: { client: Client }) => {
      const { status, body } = await client.post("/v1/orgs", { name: "One more" });
      expect([status, body.message]).toEqual([
        409,
        `The limit of ${limit} organizations of the same founder is reached. Delete some first, or send less.`,
      ]);
    };
    for (const each of [founder, last, await join(founder)]) await refusedBy(each);
    await found(await newWorld());
    expect((await last.client.delete(`/v1/orgs/${last.id}`)).status).toBe(204);
    await refusedBy(founder);
    let now = Date.now();
    const worker = new Instrumented({ clock: { now: () => now } });
    await worker.sweep();
    await refusedBy(founder);
    now += LIMITS.purgeSettlesMs.value;
    for (let run = 0; run < 3; run += 1) await worker.sweep();
    await found(founder);
  });
});

describe("the check of a write", () => {
  async function rowsReadFor(organizationId: string): Promise<number> {
    const { db } = openForWriting(env.DB);
    const growth = { organizationId, records: { projects: 1 }, bytes: 10 };
    const { meta } = await db.run(selectExceeded(growth));
    return meta.rows_read;
  }

  it("reads only the usage of an organization that is not founded, and at most 5,000 rows of others", async () => {
    const founded = await found(founder);
    const { results } = await env.DB.prepare("select kind from usage where organization_id = ?")
      .bind(founder.id)
      .all();
    const before = await rowsReadFor(founder.id);
    expect(before).toBeLessThanOrEqual(results.length + 5);
    const ids = Array.from({ length: LIMITS.foundedOrganizations.value }, () => newId(systemClock));
    await env.DB.batch([
      env.DB.prepare(
        `insert into organizations (id, name, created_at, updated_at, limits_organization_id)
          select value, 'F', 0, 0, ?2 from json_each(?1)`,
      ).bind(JSON.stringify(ids), founder.id),
      env.DB.prepare(
        `insert or ignore into usage select item.value, kind.kind, 1, 1 from json_each(?) as item
          join (select distinct kind from usage) as kind`,
      ).bind(JSON.stringify(ids)),
    ]);
    expect(await rowsReadFor(founder.id)).toBe(before);
    const shared = await rowsReadFor(founded.id);
    expect(shared).toBeGreaterThan(ids.length);
    expect(shared).toBeLessThan(5_000);
  });
});
