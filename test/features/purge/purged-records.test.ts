import { env } from "cloudflare:workers";
import { getTableName } from "drizzle-orm";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Ownership } from "../../../src/db/ownership.ts";
import { FEATURES } from "../../../src/features/index.ts";
import { projects } from "../../../src/features/tenancy/project-table.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { copyDeliveries } from "../../support/copied-deliveries.ts";
import { FullOrganization } from "../../support/full-organization.ts";
import { daysAgo, idAt } from "../../support/history.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newIntegration } from "../../support/integrations.ts";
import { addDelivery, count, exists, newOwner, OF_INTEGRATION } from "../../support/purge.ts";
import { newKey } from "../../support/world.ts";

const ROWS = LIMITS.purgeRows.value;
const ownership = new Ownership(FEATURES.flatMap(({ tables = [] }) => tables));

/** A database that loses the connection after the first batch that deletes many rows. */
function failingAfterBatch(): D1Database {
  const { withSession } = env.DB;
  let isLost = false;
  const open = (constraint: string) => {
    const session = withSession.call(env.DB, constraint);
    return {
      prepare: (sql: string) => session.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        if (isLost) throw new Error("D1_ERROR: Network connection lost.");
        const results = await session.batch(statements);
        isLost ||= results.some(({ meta }) => meta.changes >= ROWS);
        return results;
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession: open } as unknown as D1Database;
}

async function copyDeliveriesWithAttempts(integrationId: string, rows: number): Promise<void> {
  await copyDeliveries(integrationId, rows);
  await env.DB.prepare(
    `insert into delivery_attempts select id, 1, organization_id, 1, 1, 200, null, null
       from deliveries where integration_id = ?`,
  )
    .bind(integrationId)
    .run();
}

describe("the purge of a deleted record", () => {
  it("deletes at most 500 rows with a statement, and resumes after a lost connection", async () => {
    const owner = await newOwner();
    const { world, projectId, integrationId } = owner;
    const rows = 2 * ROWS + 100;
    await copyDeliveriesWithAttempts(integrationId, rows);
    const kept = await newIntegration(world.client, projectId);
    await copyDeliveriesWithAttempts(kept.id, 3);
    const path = `/v1/projects/${projectId}/notification-integrations/${integrationId}`;
    expect((await world.client.delete(path)).status).toBe(204);
    expect(await count("deliveries", OF_INTEGRATION, integrationId)).toBe(rows);
    const left: number[] = [];
    for (let run = 0; run < 10 && left.at(-1) !== 0; run += 1) {
      const isolate = new Instrumented({ database: failingAfterBatch() });
      await isolate.sweep().catch(() => undefined);
      left.push(await count("deliveries", OF_INTEGRATION, integrationId));
    }
    expect(left).toEqual([rows - ROWS, rows - 2 * ROWS, 0]);
    await new Instrumented().sweep();
    expect(await exists("integrations", integrationId)).toBe(false);
    expect(await count("purges", "record_id = ?", integrationId)).toBe(0);
    expect(await count("deliveries", OF_INTEGRATION, kept.id)).toBe(3);
    expect(await count("delivery_attempts", "organization_id = ?", world.id)).toBe(3);
  });

  it("ends a run at its limit of time, and the next run continues", async () => {
    const { world, projectId, integrationId } = await newOwner();
    await copyDeliveriesWithAttempts(integrationId, 3 * ROWS);
    await world.client.delete(
      `/v1/projects/${projectId}/notification-integrations/${integrationId}`,
    );
    let now = Date.now();
    // Each look at the clock takes a twelfth of a run.
    const clock = { now: () => (now += Math.ceil(LIMITS.purgeMs.value / 12)) };
    const purged = async () =>
      3 * ROWS - (await count("deliveries", OF_INTEGRATION, integrationId));
    const isolate = new Instrumented({ clock });
    // The pauses after batches are as long as the clock says: minutes.
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["setTimeout"] }).setTimerTickMode("nextTimerAsync");
    await isolate.sweep();
    const first = await purged();
    expect(first).toBeLessThan(3 * ROWS);
    for (let run = 0; run < 20 && (await purged()) < 3 * ROWS; run += 1) await isolate.sweep();
    expect(await purged()).toBe(3 * ROWS);
  });

  it("that fails is logged, and delays neither another one nor the retention", async () => {
    const owner = await newOwner();
    const { world, projectId, integrationId } = owner;
    const old = await addDelivery(owner, { createdAt: daysAgo(40) });
    const unknown = idAt(daysAgo(1));
    await env.DB.prepare("insert into purges values (?, ?, 'domain', 'x', 1)")
      .bind(unknown, world.id)
      .run();
    const deleted = await newIntegration(world.client, projectId);
    await copyDeliveriesWithAttempts(deleted.id, 3);
    await world.client.delete(`/v1/projects/${projectId}/notification-integrations/${deleted.id}`);
    const isolate = new Instrumented();
    await isolate.sweep();
    expect(isolate.logged.filter(({ level }) => level === "error")).toMatchObject([
      { event: "purge.failed", fields: { organizationId: world.id, type: "domain" } },
    ]);
    expect(await exists("purges", unknown)).toBe(true);
    expect(await exists("integrations", deleted.id)).toBe(false);
    expect(await count("purges", "record_id = ?", deleted.id)).toBe(0);
    expect(await exists("deliveries", old.delivery)).toBe(false);
    expect(await exists("integrations", integrationId)).toBe(true);
    await env.DB.prepare("delete from purges where id = ?").bind(unknown).run();
  });

  it("empties every table of a full project, and keeps the other organizations", async () => {
    const [own, other] = [await FullOrganization.create(90), await FullOrganization.create(90)];
    const tables = ownership.ownedBy(projects).map((table) => getTableName(table));
    // They have deleted stacks.
    await new Instrumented().sweep();
    const countAll = async (organizationId: string) =>
      Promise.all(tables.map((table) => count(table, "organization_id = ?", organizationId)));
    const before = await countAll(other.world.id);
    expect(before.filter((rows) => rows === 0)).toEqual([]);
    const { client } = await newKey(own.world);
    const { body } = await client.get("/v1/projects");
    for (const { id } of body.data) {
      await env.DB.prepare(
        "update deployments set status = 'failed', announced = 'failed' where project_id = ?",
      )
        .bind(id)
        .run();
      expect((await client.delete(`/v1/projects/${id}`)).status).toBe(204);
    }
    await new Instrumented().sweep();
    expect((await countAll(own.world.id)).filter((rows) => rows > 0)).toEqual([]);
    expect(await countAll(other.world.id)).toEqual(before);
    expect(await count("purges", "organization_id = ?", own.world.id)).toBe(0);
  });
});
