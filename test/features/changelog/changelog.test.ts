import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { CANARY_PREFIX } from "../../support/canary-secrets.ts";
import type { Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { listDeliveries } from "../../support/outbox.ts";
import { newKey } from "../../support/world.ts";
import { CASES } from "./changelog-cases.ts";
import { newFixture } from "./changelog-fixture.ts";
import {
  caseOf,
  expectNothingWithoutEntry,
  fill,
  listChangelog,
  recorded,
  send,
  WITHOUT_ENTRY,
  writes,
} from "./changelog-harness.ts";

describe("the changelog", () => {
  it("has a case for write operations only", () => {
    const ids = writes.map(({ operationId }) => operationId);
    const named = [...Object.keys(CASES), ...WITHOUT_ENTRY];
    expect(named.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it.each(recorded)(
    "records %s in the same batch and as one event, or neither is written",
    async (_, operation) => {
      const fixture = await newFixture();
      const { prepare, read, entries } = caseOf(operation);
      await prepare?.(fixture);
      await expectNothingWithoutEntry(operation, fixture);
      const before = read && (await fixture.world.client.get(fill(read, fixture))).body;
      const earlier = (await listChangelog(fixture, fixture.project.id)).map(({ id }) => id);
      const delivered = (await listDeliveries(fixture.project.id)).length;
      const worker = new Instrumented();

      const { client, keyId } = await newKey(fixture.world);
      const reply = await send(operation, fixture, client.via(worker.fetch));
      expect(reply.status).toBeLessThan(300);

      const isNew = operation.operationId === "createProject";
      const projectId = isNew ? reply.body.id : fixture.project.id;
      const written = (await listChangelog(fixture, projectId)).filter(
        ({ id }) => !earlier.includes(id),
      );
      const { accountId: account_id, membershipId: membership_id } = fixture.world;
      const common = {
        id: expect.any(String),
        project_id: projectId,
        source: { id: keyId, name: expect.any(String) },
        actor: { name: "Olive Owner", account_id, membership_id, key_id: keyId },
        created_at: expect.any(String),
      };
      const expected = entries(fixture, before, reply.body).map((entry) => ({
        ...common,
        ...entry,
        targets: expect.arrayContaining([expect.objectContaining((entry as Parsed)["record"])]),
      }));
      expect(written).toHaveLength(expected.length);
      expect(written).toEqual(expect.arrayContaining(expected));

      const batches = worker.database.filter(({ statements }) =>
        statements.some(({ sql }) => sql.startsWith('insert into "changelog_entries"')),
      );
      expect(batches).toHaveLength(1);
      if (isNew) return;
      const events = (await listDeliveries(projectId)).slice(delivered);
      expect(events.every(({ type }) => type === "changelog.created")).toBe(true);
      const changes = written.map(({ id, action, record }) => ({
        changelog_id: id,
        action,
        record,
      }));
      expect(events).toHaveLength(1);
      const [event] = events;
      expect(event?.data.entries).toHaveLength(changes.length);
      expect(event?.data.entries).toEqual(expect.arrayContaining(changes));
      const { entries: listed } = event?.data ?? {};
      expect(event?.data).toEqual({
        ...listed[0],
        account_id,
        membership_id,
        key_id: keyId,
        entries: listed,
        count: changes.length,
      });
    },
  );

  it("contains no secret", async () => {
    const fixture = await newFixture();
    const { client } = await newKey(fixture.world);
    const ids = [
      "connectProject",
      "createComponentVariable",
      "replaceVariable",
      "createIntegration",
    ];
    for (const [id, operation] of recorded) {
      if (ids.includes(id)) await send(operation, fixture, client);
    }
    for (const [id, operation] of recorded) {
      if (!id.startsWith("put")) continue;
      await caseOf(operation).prepare?.(fixture);
      await send(operation, fixture, client);
    }
    const tables = await Promise.all(
      ["changelog_entries", "deliveries"].map((name) =>
        env.DB.prepare(`select * from ${name}`).all(),
      ),
    );
    const text = JSON.stringify(tables.map(({ results }) => results));
    expect(text).toContain("resource_id");
    expect(text).not.toContain(CANARY_PREFIX);
    const connections = await env.DB.prepare("select external_id from project_connections").all();
    expect(connections.results).not.toEqual([]);
    for (const { external_id } of connections.results) expect(text).not.toContain(external_id);
  });
});
