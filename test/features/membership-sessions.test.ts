import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { expectSignedOut } from "../support/sessions.ts";
import { join, newWorld, signIn, type World } from "../support/world.ts";

const HOUR_MS = 3_600_000;

let world: World;

beforeAll(async () => {
  world = await newWorld();
});

describe("the sessions of a membership", () => {
  it("are listed, with the one of the request, and without those of other memberships", async () => {
    const person = await join(world);
    const [first, second] = [await signIn(person), await signIn(person)];
    await signIn(world);
    const { body } = await second.client.get("/v1/sessions?sort_by=%2Bcreated_at");
    expect(body.data.map(({ id, current }: Parsed) => [id, current])).toEqual([
      [first.sessionId, false],
      [second.sessionId, true],
    ]);
    const page = await person.client.get("/v1/sessions?limit=1");
    expect(page.body).toMatchObject({ has_more: true, data: [{ current: false }] });
    expect((await person.client.get("/v1/sessions")).body.data).toHaveLength(2);
  });

  it("are revoked one by one, by a key or a session of the membership only", async () => {
    const person = await join(world);
    const [first, second, third] = [
      await signIn(person),
      await signIn(person),
      await signIn(person),
    ];
    const path = `/v1/sessions/${first.sessionId}`;
    const unknown = await world.client.delete(`/v1/sessions/${newId(systemClock)}`);
    expect(unknown.status).toBe(404);
    expect((await world.client.delete(path)).text).toBe(unknown.text);
    expect((await (await newWorld()).client.delete(path)).text).toBe(unknown.text);
    expect((await first.client.get("/v1/orgs")).status).toBe(200);
    expect((await second.client.delete(path)).status).toBe(204);
    expectSignedOut(await first.client.get("/v1/orgs"));
    expect((await person.client.delete(`/v1/sessions/${second.sessionId}`)).status).toBe(204);
    expectSignedOut(await second.client.get("/v1/orgs"));
    expect((await person.client.delete(path)).status).toBe(404);
    expect((await third.client.get("/v1/orgs")).status).toBe(200);
    expect((await person.client.get("/v1/orgs")).status).toBe(200);
  });

  it("that is the current one ends, and its cookie is cleared", async () => {
    const { client } = await signIn(world);
    const reply = await client.delete("/v1/sessions/current");
    expect(reply.status).toBe(204);
    expect(reply.headers.get("set-cookie")).toBe(
      "__Host-longshore=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax",
    );
    expectSignedOut(await client.get("/v1/orgs"));
    const withKey = await world.client.delete("/v1/sessions/current");
    expectSignedOut(withKey);
  });

  it.each([
    ["if-match", "If-Match: Remove the header: this operation has no condition."],
    ["if-none-match", "If-None-Match: Remove the header: only reads have this condition."],
  ])("that is the current one does not end by a request with %s", async (header, message) => {
    const { client } = await signIn(world);
    const headers = { [header]: '"1.0"' };
    const refused = await client.request("DELETE", "/v1/sessions/current", undefined, headers);
    expect([refused.status, refused.body.code, refused.body.message]).toEqual([
      400,
      "bad_input",
      message,
    ]);
    expect(refused.headers.get("set-cookie")).toBeNull();
    expect((await client.get("/v1/orgs")).status).toBe(200);
  });

  it("are removed by the sweep once they have ended, and no others", async () => {
    let now = Date.now();
    const worker = new Instrumented({ clock: { now: () => now } });
    const other = await newWorld();
    const [ended, current] = [await signIn(other), await signIn(other)];
    await other.client.post("/v1/sign-in-links", undefined);
    now += 11 * HOUR_MS;
    await current.client.via(worker.fetch).get("/v1/orgs");
    now += 2 * HOUR_MS;
    await worker.sweep();
    const remaining = (table: string) =>
      env.DB.prepare(`select id from ${table} where organization_id = ?`).bind(other.id).all();
    expect((await remaining("sessions")).results).toEqual([{ id: current.sessionId }]);
    expect((await remaining("sign_in_links")).results).toEqual([]);
    expect(ended.sessionId).not.toBe(current.sessionId);
  });
});
