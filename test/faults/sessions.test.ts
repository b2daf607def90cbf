import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { Client, type Parsed } from "../support/client.ts";
import { beforeBatch, Instrumented } from "../support/instruments.ts";
import { join, newWorld, signIn, type World } from "../support/world.ts";

let world: World;

beforeAll(async () => {
  world = await newWorld();
});

/** A database that writes no last use of a session before `recorded` resolves. */
function recordingAfter(recorded: Promise<void>, onRecord: () => void): D1Database {
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    const prepare = (sql: string) => {
      const statement = session.prepare(sql);
      if (!sql.startsWith('update "sessions"')) return statement;
      const run = async () => {
        onRecord();
        await recorded;
      };
      return { bind: () => ({ run }) };
    };
    return {
      prepare,
      batch: session.batch.bind(session),
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

async function rowsOf(table: "sessions" | "sign_in_links", membershipId: string) {
  const select = env.DB.prepare(`select id from ${table} where membership_id = ?`);
  return (await select.bind(membershipId).all()).results;
}

describe("a session", () => {
  it("gets its response before the record of its last use is written", async () => {
    const { client } = await signIn(world);
    const recording = Promise.withResolvers<void>();
    let records = 0;
    const DB = recordingAfter(recording.promise, () => {
      records += 1;
    });
    const execution = createExecutionContext();
    const app = createApp();
    const caller = client.via((request) => app.fetch(request, { ...env, DB }, execution));
    expect((await caller.get("/v1/orgs")).status).toBe(200);
    expect(records).toBe(1);
    recording.resolve();
    await waitOnExecutionContext(execution);
  });

  it("that is revoked while it creates a link leaves no link", async () => {
    const person = await join(world, "admin");
    const { client, sessionId } = await signIn(person);
    const database = beforeBatch(1, async () => {
      expect((await person.client.delete(`/v1/sessions/${sessionId}`)).status).toBe(204);
    });
    const caller = client.via(new Instrumented({ database }).fetch);
    const { body } = await caller.post("/v1/sign-in-links", undefined);
    expect(body.code).toBe("conflict");
    expect(await rowsOf("sign_in_links", person.membershipId)).toEqual([]);
    expect((await person.client.post("/v1/sign-in-links", undefined)).status).toBe(201);
  });
});

describe("a sign-in", () => {
  it("whose key is revoked meanwhile starts no session, on no record", async () => {
    const person = await join(world);
    const database = beforeBatch(1, async () => {
      await world.client.delete(`/v1/orgs/${world.id}/api-keys/${person.keyId}`);
    });
    const visitor = new Client(undefined, new Instrumented({ database }).fetch);
    const reply = await visitor.post("/v1/sessions", { api_key: person.client.key });
    expect([reply.status, reply.headers.has("set-cookie")]).toEqual([401, false]);
    expect(await rowsOf("sessions", person.membershipId)).toEqual([]);
    const { body } = await world.client.get(`/v1/orgs/${world.id}/audit-log?actor=${person.keyId}`);
    expect(body.data.map(({ action }: Parsed) => action)).not.toContain("session.created");
  });

  it("with a link whose key is revoked meanwhile starts no session", async () => {
    const person = await join(world);
    const { body: link } = await person.client.post("/v1/sign-in-links", undefined);
    const database = beforeBatch(1, async () => {
      await world.client.delete(`/v1/orgs/${world.id}/api-keys/${person.keyId}`);
    });
    const visitor = new Client(undefined, new Instrumented({ database }).fetch);
    const headers = { "sec-fetch-site": "same-origin" };
    const response = await visitor.raw("POST", new URL(link.url).pathname, headers);
    expect([response.status, response.headers.has("set-cookie")]).toEqual([404, false]);
    expect(await rowsOf("sessions", person.membershipId)).toEqual([]);
  });
});
