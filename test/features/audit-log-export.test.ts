import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { exportLines } from "../../src/features/housekeeping/audit/export.ts";
import type { AuditEntryRow } from "../../src/features/housekeeping/audit/list-store.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { encodeCursor } from "../../src/lib/cursor.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { listAuditLog } from "../support/audit.ts";
import {
  ACTIONS,
  at,
  idsOf,
  insert,
  MINUTE,
  pathOf,
  type Row,
  rowsOf,
} from "./../support/audit-rows.ts";
import { type Client, newAddress, type Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { newKey, newWorld, type World } from "../support/world.ts";

let world: World;
let client: Client;
let rows: Row[];

beforeAll(async () => {
  world = await newWorld();
  rows = rowsOf(900);
  await insert(world.id, rows);
});

beforeEach(async () => {
  ({ client } = await newKey(world));
});

/** The complete lines. The rest of a download that was cut is left out. */
function linesOf(text: string): Parsed[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

function requestOf(path: string, { key }: Client): Request {
  const headers = { "x-api-key": String(key), "cf-connecting-ip": newAddress() };
  return new Request(`https://longshore.test${path}`, { headers });
}

const textOf = async (response: Response) => new TextDecoder().decode(await response.arrayBuffer());

async function download(path: string, caller = client): Promise<Parsed[]> {
  return linesOf(await textOf(await new Instrumented().fetch(requestOf(path, caller))));
}

describe("an export of the audit log", () => {
  const path = () => `${pathOf(world)}/export?to=2026-03-02T00:00:00Z`;

  it("has every record of the list, the oldest first, and ends with a line of its own", async () => {
    const response = await new Instrumented().fetch(requestOf(path(), client));
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(response.headers.get("x-d1-bookmark")).toBeTruthy();
    const lines = linesOf(await textOf(response));
    const listed = await listAuditLog(world, "&to=2026-03-02T00:00:00Z");
    const records = lines.slice(0, -1).map(({ cursor: _, ...record }) => record);
    expect(records).toEqual(listed);
    expect(records).toHaveLength(rows.length);
    const { cursor } = lines.at(-2);
    expect(lines.at(-1)).toEqual({ end: true, has_more: false, cursor });
  });

  it("has the filters of the list", async () => {
    const query = `&action=${ACTIONS[1]}&actor=${rows[0]?.membershipId}`;
    const lines = await download(`${path()}${query}`);
    expect(idsOf(lines.slice(0, -1))).toEqual(idsOf(await listAuditLog(world, query)));
    const none = await download(`${path()}&target=${newId(systemClock)}`);
    expect(none).toEqual([{ end: true, has_more: false }]);
  });

  it("continues after each of its lines, with no record lost or repeated", async () => {
    const lines = await download(path());
    for (const cut of [0, 238, 239, 240, 700, 899]) {
      const { cursor } = lines[cut];
      const rest = await download(`${path()}&after=${cursor}`);
      expect(rest).toEqual(lines.slice(cut + 1));
    }
    const { cursor } = lines.at(-1);
    expect(await download(`${path()}&after=${cursor}`)).toEqual([lines.at(-1)]);
  });

  it("is read from the database as the client reads it", async () => {
    const isolate = new Instrumented();
    await isolate.fetch(requestOf("/v1/orgs", client));
    isolate.forget();
    const response = await isolate.fetch(requestOf(path(), client));
    const reader = response.body?.getReader();
    await reader?.read();
    const queries = isolate.database.length;
    expect(queries).toBeLessThanOrEqual(2);
    await reader?.cancel();
    await isolate.fetch(requestOf("/v1/orgs", client));
    expect(isolate.database.length).toBeLessThanOrEqual(queries + 2);
  });

  it("leaves one record for each request, however many pages it has", async () => {
    const count = async () => (await listAuditLog(world, "&action=audit_log.exported")).length;
    const before = await count();
    await download(path());
    expect(await count()).toBe(before + 1);
  });

  it("that fails breaks off without its last line, and is in the log", async () => {
    let pages = 0;
    const database = {
      withSession: (constraint: string) => {
        const session = env.DB.withSession(constraint);
        const prepare = (sql: string) => {
          if (sql.includes("page.found")) pages += 1;
          if (pages > 2) throw new Error("Injected fault");
          return session.prepare(sql);
        };
        const batch = (statements: D1PreparedStatement[]) => session.batch(statements);
        return { prepare, batch, getBookmark: () => session.getBookmark() };
      },
    } as unknown as D1Database;
    const isolate = new Instrumented({ database });
    const response = await isolate.fetch(requestOf(path(), client));
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    let text = "";
    const readAll = async () => {
      for (;;) {
        const chunk = await reader?.read();
        if (!chunk || chunk.done) return;
        text += new TextDecoder().decode(chunk.value);
      }
    };
    await expect(readAll()).rejects.toThrow("broke off");
    const lines = linesOf(text);
    expect(lines.length).toBeGreaterThanOrEqual(240);
    expect(text).not.toContain('"end"');
    expect(isolate.logged.map(({ event }) => event)).toContain("audit_log.export_broke_off");
    const rest = await download(`${path()}&after=${lines.at(-1).cursor}`);
    expect(idsOf([...lines, ...rest.slice(0, -1)])).toEqual(idsOf(rows));
  });

  describe.each([
    ["to its end", () => ""],
    ["to a time in the future", (now: number) => `&to=${at(now + 60 * MINUTE)}`],
  ])("%s", (_, query) => {
    it("neither loses nor repeats what is committed while it runs, even with an earlier time", async () => {
      const owner = await newWorld();
      const caller = (await newKey(owner)).client;
      let now = Date.now() + 10 * MINUTE;
      const isolate = new Instrumented({ clock: { now: () => now } });
      const template = rowsOf(1)[0] as Row;
      const rowAt = (createdAt: number): Row => ({
        ...template,
        id: newId(systemClock),
        createdAt,
      });
      const settled = Array.from({ length: 300 }, (_, index) => rowAt(now - 2 * MINUTE + index));
      const newest = rowAt(now - 1_000);
      await insert(owner.id, [...settled, newest]);

      const exportPath = `${pathOf(owner)}/export?action=${ACTIONS[0]}${query(now)}`;
      const response = await isolate.fetch(requestOf(exportPath, caller));
      const reader = response.body?.getReader();
      const decoder = new TextDecoder();
      let text = decoder.decode((await reader?.read())?.value);
      // Its batch began before the export and ends now.
      const late = rowAt(now - 30_000);
      await insert(owner.id, [late]);
      for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
        text += decoder.decode(chunk.value);
      }
      const first = linesOf(text);
      expect(idsOf(first.slice(0, -1))).toEqual(idsOf(settled));

      now += 2 * MINUTE;
      const { cursor } = first.at(-1);
      const next = await isolate.fetch(requestOf(`${exportPath}&after=${cursor}`, caller));
      expect(idsOf(linesOf(await textOf(next)).slice(0, -1))).toEqual([late.id, newest.id]);
    });
  });

  it("ends after its maximum of records, and says that there are more", async () => {
    const maximum = LIMITS.auditExportEntries.value;
    let made = 0;
    const pageOf = (count: number) => {
      const page = Array.from({ length: count }, () => {
        made += 1;
        return { id: newId(systemClock), createdAt: made, changes: null } as AuditEntryRow;
      });
      const last = { createdAt: made, id: newId(systemClock) };
      return { rows: page, next: encodeCursor("asc", last) };
    };
    const readNext = async () => pageOf(240);
    let last = "";
    let count = 0;
    for await (const chunk of exportLines({ after: undefined, first: pageOf(240), readNext })) {
      const lines = chunk.split("\n").slice(0, -1);
      count += lines.length;
      last = String(lines.at(-1));
    }
    expect(count - 1).toBeGreaterThanOrEqual(maximum);
    expect(count - 1).toBeLessThan(maximum + 240);
    expect(JSON.parse(last)).toEqual({ end: true, has_more: true, cursor: expect.any(String) });
  });
});
