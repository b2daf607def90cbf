import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/lib/limits.ts";
import type { Reply } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { newKey, newProject, newWorld, type World } from "../support/world.ts";

const DAY = LIMITS.idempotencyMs.value;
const MAXIMUM_BYTES = LIMITS.idempotencyBytes.value;
/** As the trigger counts those that are not text of the record. */
const BYTES_OF_RECORD = 300;

let world: World;
let environments: string;
let now: number;

const clock = { now: () => now };

beforeEach(async () => {
  now = Date.now();
  await env.DB.prepare("delete from idempotency_records").run();
  world = await newWorld();
  environments = `/v1/projects/${(await newProject(world.client)).id}/environments`;
});

const create = (worker: Instrumented, name: string, key = "key"): Promise<Reply> =>
  world.client
    .via(worker.fetch)
    .request("POST", environments, { name }, { "idempotency-key": key });

/** Inserts records, each with a result of this many bytes; `created_at` counts from 1. */
async function insertRecords(
  count: number,
  bytes = 2,
  of: { organizationId?: string; credential?: string } = {},
): Promise<void> {
  const { organizationId = world.id } = of;
  const { credential = `credential of ${organizationId}` } = of;
  await env.DB.prepare(
    `with recursive item(at) as (select 1 union all select at + 1 from item where at < ?2)
      insert into idempotency_records
      select printf('%022d', at) || ?4, ?1, ?4, printf('%08d', at), 'f', 201,
        replace(hex(zeroblob(?3 / 2)), '0', 'x'), '', '[]', at, 0 from item`,
  )
    .bind(organizationId, count, bytes, credential)
    .run();
}

async function recordsOf(organizationId = world.id) {
  const { results } = await env.DB.prepare(
    `select key, created_at, preceding_bytes, octet_length(result) as bytes from idempotency_records
      where organization_id = ? order by preceding_bytes`,
  )
    .bind(organizationId)
    .all<{ key: string; created_at: number; preceding_bytes: number; bytes: number }>();
  return results;
}

describe("the round trips of a repeat", () => {
  it("are two, and one of the authentication in an isolate that has not cached the key", async () => {
    const worker = new Instrumented({ clock });
    await world.client.via(worker.fetch).get(environments);
    worker.forget();
    const first = await create(worker, "staging");
    // Finds the record, and then the project; the batch writes the environment and the record.
    expect(worker.database).toHaveLength(3);
    worker.forget();
    expect((await create(worker, "staging")).text).toBe(first.text);
    // Finds the record, and then the project, for the authorization.
    expect(worker.database).toHaveLength(2);
    const other = new Instrumented({ clock });
    const repeated = await create(other, "staging");
    expect(repeated.text).toBe(first.text);
    expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    expect(other.database.map(({ statements }) => statements.length)).toEqual([1, 2, 1]);
  });

  it("are none if the request is malformed", async () => {
    const worker = new Instrumented({ clock });
    await world.client.via(worker.fetch).get(environments);
    worker.forget();
    expect((await create(worker, "NOT A NAME")).status).toBe(400);
    expect((await create(worker, "staging", "not a key")).status).toBe(400);
    expect(worker.database).toEqual([]);
  });
});

describe("a record", () => {
  it("answers repeats for 24 hours, and then the request is carried out again", async () => {
    const worker = new Instrumented({ clock });
    const first = await create(worker, "staging");
    now += DAY - 1;
    expect((await create(worker, "staging")).text).toBe(first.text);
    now += 1;
    expect((await create(worker, "staging")).status).toBe(409);
    await world.client.delete(`/v1/environments/${first.body.id}`);
    const second = await create(worker, "staging");
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
    expect(second.headers.has("idempotency-replayed")).toBe(false);
    expect((await create(worker, "staging")).text).toBe(second.text);
    expect(await recordsOf()).toHaveLength(1);
  });

  it("that is too old does not bind its key to its request", async () => {
    const worker = new Instrumented({ clock });
    await create(worker, "staging");
    expect((await create(worker, "preview")).status).toBe(400);
    now += DAY;
    expect((await create(worker, "preview")).status).toBe(201);
  });

  it("of several concurrent requests after 24 hours is written once", async () => {
    const workers = [new Instrumented({ clock }), new Instrumented({ clock })] as const;
    const first = await create(workers[0], "staging");
    now += DAY;
    await world.client.delete(`/v1/environments/${first.body.id}`);
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, at) => create(workers[at % 2 ? 1 : 0], "staging")),
    );
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies[0]?.status).toBe(201);
    expect(await recordsOf()).toHaveLength(1);
  });
});

describe("the sweep", () => {
  it("deletes old records in chunks, and keeps those that are less than 24 hours old", async () => {
    await insertRecords(1_200);
    now = DAY + 1_100;
    const worker = new Instrumented({ clock });
    await worker.sweep();
    const chunks = worker.database.filter(({ statements: [first] }) =>
      first?.sql.startsWith('delete from "idempotency_records"'),
    );
    expect(chunks).toHaveLength(3);
    for (const { statements } of chunks) expect(statements[0]?.params).toContain(500);
    expect((await recordsOf()).map(({ created_at }) => created_at)[0]).toBe(1_101);
    expect(await recordsOf()).toHaveLength(100);
  });

  it("deletes a bounded number in one run, and the rest in the next", async () => {
    const maximum = LIMITS.sweepIdempotencyEntries.value;
    await insertRecords(maximum + 700);
    now = 2 * DAY;
    const worker = new Instrumented({ clock });
    await worker.sweep();
    expect(await recordsOf()).toHaveLength(700);
    await worker.sweep();
    expect(await recordsOf()).toEqual([]);
  });
});

describe("the records of an organization", () => {
  const MIB = 1024 ** 2;
  const LARGE = MIB - BYTES_OF_RECORD - 8 - 2;

  const totalOf = async (organizationId: string) =>
    env.DB.prepare("select bytes from idempotency_totals where organization_id = ?")
      .bind(organizationId)
      .first<number>("bytes");
  const bytesIn = (entries: readonly { key: string; bytes: number }[]) =>
    entries.reduce((sum, { key, bytes }) => sum + bytes + BYTES_OF_RECORD + key.length + 2, 0);
  const ofCredential = async (credential: string) => {
    const { results } = await env.DB.prepare(
      `select key, octet_length(result) as bytes from idempotency_records where credential_id = ?
        order by preceding_bytes`,
    )
      .bind(credential)
      .all<{ key: string; bytes: number }>();
    return results;
  };

  it("of one credential take at most 16 MiB: its oldest are deleted, and those of others stay", async () => {
    const other = await newWorld();
    await insertRecords(3, LARGE, { organizationId: other.id });
    expect((await recordsOf(other.id)).map(({ preceding_bytes }) => preceding_bytes)).toEqual([
      0,
      MIB,
      2 * MIB,
    ]);
    await insertRecords(3, LARGE, { credential: "neighbor" });
    const fitting = LIMITS.idempotencyCredentialBytes.value / MIB;
    await insertRecords(fitting, LARGE, { credential: "large" });
    expect(await ofCredential("large")).toHaveLength(fitting);
    await insertRecords(fitting + 1, LARGE, { credential: "larger" });
    const kept = await ofCredential("larger");
    expect(kept).toHaveLength(fitting);
    expect(kept[0]?.key).toBe("00000002");
    expect(await ofCredential("neighbor")).toHaveLength(3);
    expect(await recordsOf(other.id)).toHaveLength(3);
    expect([await totalOf(world.id), await totalOf(other.id)]).toEqual([
      bytesIn(await recordsOf()),
      3 * MIB,
    ]);
  });

  it("take 64 MiB, beyond which a credential replaces its own, and has room for its newest", async () => {
    const worker = new Instrumented({ clock });
    const first = await create(worker, "staging");
    const other = await newWorld();
    await insertRecords(3, LARGE, { organizationId: other.id });
    // As many as it took to delete those of other keys.
    const large = 256 * 1024;
    for (const at of [1, 2, 3, 4, 5])
      await insertRecords(260, large, { credential: `large ${at}` });
    expect((await create(worker, "staging")).text).toBe(first.text);
    const total = await totalOf(world.id);
    expect(total).toBe(bytesIn(await recordsOf()));
    expect(total).toBeGreaterThan(MAXIMUM_BYTES - large);
    expect(total).toBeLessThan(MAXIMUM_BYTES + 2 * large);
    expect((await ofCredential("large 5")).length).toBeLessThan(5);
    const full = await Promise.all([1, 2, 3, 4].map((at) => ofCredential(`large ${at}`)));

    const second = await create(worker, "preview", "second");
    expect(second.status).toBe(201);
    for (const name of ["staging", "preview"]) {
      const repeated = await create(worker, name, name === "staging" ? "key" : "second");
      expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    }
    // A small room of its own: 256 KiB, of which the oldest go.
    const small = 16 * 1024;
    await insertRecords(40, small, { credential: "small" });
    const kept = await ofCredential("small");
    const reserved = LIMITS.idempotencyReservedBytes.value;
    expect(bytesIn(kept)).toBeGreaterThan(reserved - 2 * small);
    expect(bytesIn(kept)).toBeLessThanOrEqual(reserved);
    expect(kept.at(-1)?.key).toBe("00000040");
    const still = await Promise.all([1, 2, 3, 4].map((at) => ofCredential(`large ${at}`)));
    expect(still).toEqual(full);
    expect(await recordsOf(other.id)).toHaveLength(3);
  });

  it("of one founder take at most 192 MiB: then a POST is refused, and a PATCH is carried out", async () => {
    const worker = new Instrumented({ clock });
    const others = [await newWorld(), await newWorld(), await newWorld()];
    const together = [world.id, ...others.map(({ id }) => id)];
    for (const { id } of others) await insertRecords(2, LARGE, { organizationId: id });
    const most = LIMITS.idempotencyTotalBytes.value;
    const setTotal = (organizationId: string, bytes: number) =>
      env.DB.prepare(
        `insert into idempotency_totals values (?1, ?2)
          on conflict do update set bytes = excluded.bytes`,
      )
        .bind(organizationId, bytes)
        .run();
    const share = (founder: string | null) =>
      env.DB.prepare(
        "update organizations set limits_organization_id = ?2 where id in (select value from json_each(?1))",
      )
        .bind(JSON.stringify(together), founder)
        .run();
    const rename = (founded: boolean) =>
      world.client
        .via(worker.fetch)
        .request(
          "PATCH",
          environments.replace("/environments", ""),
          { name: crypto.randomUUID() },
          { "idempotency-key": `rename-${founded}` },
        );
    const founder = await newWorld();
    for (const founded of [false, true]) {
      await share(founded ? founder.id : null);
      // Own entries are evicted first, as far as it has some.
      const own = founded ? most - 6 * MIB - 100 : most - 100;
      await setTotal(world.id, own);
      const refused = await create(worker, `refused-${founded}`, `refused-${founded}`);
      expect([refused.status, refused.body.code]).toEqual([429, "rate"]);
      expect(refused.headers.get("retry-after")).toBe("3600");
      expect(await totalOf(world.id)).toBe(own);
      expect((await create(worker, `refused-${founded}`, "x")).status).toBe(429);
      expect((await world.client.post(environments, { name: `plain-${founded}` })).status).toBe(
        201,
      );
      for (let repeats = 0; repeats < 2; repeats += 1) {
        const renamed = await rename(founded);
        expect([renamed.status, renamed.headers.has("idempotency-replayed")]).toEqual([200, false]);
      }
      await setTotal(world.id, own - 10_000);
      expect((await create(worker, `kept-${founded}`, `kept-${founded}`)).status).toBe(201);
    }
  });

  it("have the limits of the documentation in the trigger", async () => {
    const sql = await env.DB.prepare(
      "select sql from sqlite_master where type = 'trigger' and name = 'idempotency_records_size'",
    ).first<string>("sql");
    const { idempotencyReservedBytes, idempotencyCredentialBytes, idempotencyTotalBytes } = LIMITS;
    const limits = [idempotencyReservedBytes, idempotencyCredentialBytes, { value: MAXIMUM_BYTES }];
    expect(sql?.match(/\d{4,}/g)).toEqual(
      [...limits, idempotencyTotalBytes].map(({ value }) => String(value)),
    );
  });

  it("are subtracted when the sweep deletes them", async () => {
    await insertRecords(10);
    expect(await totalOf(world.id)).toBe(bytesIn(await recordsOf()));
    now = 2 * DAY;
    await new Instrumented({ clock }).sweep();
    expect([await recordsOf(), await totalOf(world.id)]).toEqual([[], 0]);
  });

  it("of a key that is used by two organizations at the same time are separate", async () => {
    const { client } = await newKey(world);
    const headers = { "idempotency-key": "key" };
    const other = await newWorld();
    const elsewhere = (await newProject(other.client)).id;
    const body = { name: "staging" };
    const one = await client.request("POST", environments, body, headers);
    const two = await other.client.request(
      "POST",
      `/v1/projects/${elsewhere}/environments`,
      body,
      headers,
    );
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(one.body.id).not.toBe(two.body.id);
  });
});
