import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { excessOf, type Narrowing } from "../../src/features/identity/api-keys/narrowing.ts";
import { Client, type Parsed } from "../support/client.ts";
import { newProject, newWorld, SharedKeys } from "../support/world.ts";

const DAY_MS = 86_400_000;
const SCOPES = [
  ["keys:write"],
  ["keys:write", "deployments:read"],
  ["keys:write", "deployments:write"],
];

const fields = fc.record(
  {
    scopes: fc.constantFrom(...SCOPES),
    project: fc.boolean(),
    days: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: [] },
);
const kind = fc.constantFrom("create", "create", "narrow", "narrow", "rotate", "keep");
const steps = fc.array(fc.record({ kind, key: fc.nat(), fields }), { minLength: 4, maxLength: 14 });

interface StoredKey extends Narrowing {
  id: string;
  parent: string | null;
  expiresAt: number;
}

async function keysOf(organizationId: string): Promise<Map<string, StoredKey>> {
  const { results } = await env.DB.prepare(
    `select id, created_by_key_id as parent, scopes, project_ids, environment_ids,
      coalesce(expires_at, 9e15) as expires_at
      from api_keys where organization_id = ?`,
  )
    .bind(organizationId)
    .all<Parsed>();
  return new Map(
    results.map((row) => [
      row.id,
      {
        id: row.id,
        parent: row.parent,
        scopes: JSON.parse(row.scopes),
        projectIds: JSON.parse(row.project_ids),
        environmentIds: JSON.parse(row.environment_ids),
        expiresAt: row.expires_at,
      },
    ]),
  );
}

describe("any history of creating, narrowing, rotating and revoking keys", () => {
  it("leaves no key with more than the one that it descends from, and gives none more than it had", async () => {
    let done = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const world = await newWorld();
        const project = await newProject(world.client);
        const admins = new SharedKeys(world);
        const path = `/v1/orgs/${world.id}/api-keys`;
        const start = Date.now() + DAY_MS;
        const { body: root } = await world.client.post(path, { name: "root" });
        const secrets = new Map([[root.id, root.key]]);
        for (const { kind, key, fields } of history) {
          const ids = [...secrets.keys()];
          const id = ids[key % ids.length];
          const { scopes, project: isBounded, days } = fields;
          const expires_at = days && new Date(start + days * DAY_MS).toISOString();
          const project_ids = isBounded ? [project.id] : undefined;
          const body = { scopes, project_ids, expires_at };
          const before = await keysOf(world.id);
          const admin = await admins.next();
          const reply =
            kind === "create"
              ? await new Client(secrets.get(id)).post(path, { name: "child", ...body })
              : kind === "narrow"
                ? await admin.patch(`${path}/${id}`, body)
                : kind === "rotate"
                  ? await admin.post(`${path}/${id}/rotate`, {
                      overlap_seconds: days ?? 0,
                      expires_at,
                    })
                  : await admin.delete(`${path}/${id}?descendants=keep`);
          if (reply.status < 300) done += 1;
          if (reply.status === 201) secrets.set(reply.body.id, reply.body.key);
          const after = await keysOf(world.id);
          for (const stored of after.values()) {
            const parent = after.get(String(stored.parent));
            if (parent) {
              expect(excessOf(stored, parent)).toBeUndefined();
              expect(stored.expiresAt).toBeLessThanOrEqual(parent.expiresAt);
            }
            const earlier = before.get(stored.id);
            if (earlier) {
              expect(excessOf(stored, earlier)).toBeUndefined();
              expect(stored.expiresAt).toBeLessThanOrEqual(earlier.expiresAt);
            }
          }
        }
      }),
      { numRuns: 15 },
    );
    expect(done).toBeGreaterThan(20);
  });
});
