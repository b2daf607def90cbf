import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { Client, type Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { join, newKey, newProject, newWorld, type World } from "../support/world.ts";

const DAY_MS = 86_400_000;
const at = (offset: number) => new Date(Date.now() + offset).toISOString();

let world: World;
let keys: string;

beforeEach(async () => {
  world = await newWorld();
  keys = `/v1/orgs/${world.id}/api-keys`;
});

async function create(client: Client, fields: object = {}): Promise<Parsed> {
  const reply = await client.post(keys, { name: "test", ...fields });
  expect(reply.status, reply.text).toBe(201);
  return reply.body;
}

const clientOf = ({ key }: Parsed) => new Client(key);
const statusOf = async (client: Client) => (await client.get("/v1/orgs")).status;

/** The actions on record, oldest first, with the names of their targets. */
async function recordsOf(): Promise<[string, string | null][]> {
  const { results } = await env.DB.prepare(
    "select action, target_name, outcome from audit_log where organization_id = ? order by id",
  )
    .bind(world.id)
    .all<{ action: string; target_name: string | null; outcome: string }>();
  return results
    .filter(({ action }) => /^api_key|^escalation|policy/.test(action))
    .map(({ action, target_name }) => [action, target_name]);
}

describe("a key that another key creates", () => {
  it("has what the other has by default, or less, and says where it comes from", async () => {
    const project = await newProject(world.client);
    const [environment] = [project.default_environment_id];
    const narrow = await create(world.client, {
      scopes: ["keys:write", "projects:read"],
      environment_ids: [environment],
    });
    expect(narrow).toMatchObject({
      scopes: ["keys:write", "projects:read"],
      project_ids: [project.id],
      environment_ids: [environment],
      created_by: { key_id: world.keyId, membership_id: world.membershipId },
    });
    const child = await create(clientOf(narrow));
    expect(child).toMatchObject({
      scopes: narrow.scopes,
      project_ids: narrow.project_ids,
      environment_ids: narrow.environment_ids,
      created_by: { key_id: narrow.id },
    });
    const less = await create(clientOf(narrow), { scopes: ["keys:read"] });
    expect(less.scopes).toEqual(["keys:read"]);
    expect(await create(world.client)).not.toHaveProperty("scopes");
    expect(await recordsOf()).toEqual(Array(4).fill(["api_key.created", "test"]));
  });

  it("cannot have more, and the refusal names what exceeds and is on record", async () => {
    const [project, other] = [await newProject(world.client), await newProject(world.client)];
    const narrow = clientOf(
      await create(world.client, { scopes: ["keys:write"], project_ids: [project.id] }),
    );
    const environment = clientOf(
      await create(world.client, { environment_ids: [project.default_environment_id] }),
    );
    const admin = await join(world, "admin");
    const refusals = [
      [narrow, { scopes: ["keys:write", "members:read"] }, "the scope members:read"],
      [narrow, { project_ids: [project.id, other.id] }, "projects"],
      [narrow, { project_ids: [newId(systemClock)] }, "projects"],
      [environment, { environment_ids: [other.default_environment_id] }, "environments"],
      [environment, { environment_ids: [newId(systemClock)] }, "environments"],
      [admin.client, { role: "owner" }, "the role owner"],
      [admin.client, { membership_id: world.membershipId, role: "member" }, "the role owner"],
    ] as const;
    for (const [client, fields, what] of refusals) {
      const { status, body } = await client.post(keys, { name: "wide", ...fields });
      expect([status, body.code]).toEqual([403, "unauthorized"]);
      expect(body.message).toContain(what);
    }
    const refused = (await recordsOf()).filter(([action]) => action === "escalation.refused");
    // One a minute for each key.
    expect(refused).toHaveLength(3);
    expect((await create(narrow)).project_ids).toEqual([project.id]);
  });

  it("does not learn which environments exist outside of its projects", async () => {
    const [project, other] = [await newProject(world.client), await newProject(world.client)];
    const narrow = clientOf(await create(world.client, { project_ids: [project.id] }));
    const replyTo = async (id: string) => {
      const { status, text } = await narrow.post(keys, { name: "x", environment_ids: [id] });
      return [status, text];
    };
    const unknown = await replyTo(newId(systemClock));
    expect(unknown[0]).toBe(404);
    expect(await replyTo(other.default_environment_id)).toEqual(unknown);
    const inside = await narrow.post(keys, {
      name: "x",
      environment_ids: [project.default_environment_id],
    });
    expect(inside.status).toBe(201);
  });

  it("is refused with unknown scopes, and with environments of other projects", async () => {
    const [project, other] = [await newProject(world.client), await newProject(world.client)];
    for (const fields of [
      { scopes: ["everything"] },
      { scopes: [] },
      { project_ids: [] },
      { project_ids: [project.id], environment_ids: [other.default_environment_id] },
    ]) {
      const { status, body } = await world.client.post(keys, { name: "x", ...fields });
      expect([status, body.code]).toEqual([400, "bad_input"]);
    }
  });

  it("expires no later than the other", async () => {
    const expires_at = at(DAY_MS);
    const parent = await create(world.client, { expires_at, scopes: ["keys:write"] });
    expect((await create(clientOf(parent))).expires_at).toBe(expires_at);
    const earlier = await create(clientOf(parent), { expires_at: at(DAY_MS / 2) });
    expect(Date.parse(earlier.expires_at)).toBeLessThan(Date.parse(expires_at));
    const late = await clientOf(parent).post(keys, { name: "x", expires_at: at(2 * DAY_MS) });
    expect([late.status, late.body.cause.issues[0].path]).toEqual([400, "expires_at"]);
    expect(late.body.message).toContain(expires_at);
  });

  it("is not created if the other is revoked meanwhile", async () => {
    const parent = await create(world.client);
    const racing = new Instrumented({ database: revoking(parent.id) });
    const { status, body } = await clientOf(parent).via(racing.fetch).post(keys, { name: "late" });
    expect([status, body.code]).toEqual([409, "conflict"]);
    const { body: list } = await world.client.get(keys);
    expect(list.data.map(({ name }: Parsed) => name)).not.toContain("late");
  });

  /** Deletes the key before the second batch, which is the one that writes. */
  function revoking(keyId: string): D1Database {
    let batches = 0;
    const withSession = (constraint: string) => {
      const session = env.DB.withSession(constraint);
      return {
        prepare: (sql: string) => session.prepare(sql),
        batch: async (statements: D1PreparedStatement[]) => {
          batches += 1;
          const deletion = env.DB.prepare("delete from api_keys where id = ?").bind(keyId);
          if (batches === 2) await deletion.run();
          return session.batch(statements);
        },
        getBookmark: () => session.getBookmark(),
      };
    };
    return { withSession } as unknown as D1Database;
  }
});
