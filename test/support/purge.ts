import { env } from "cloudflare:workers";
import { idAt } from "./history.ts";
import { newIntegration } from "./integrations.ts";
import { newProject, newWorld } from "./world.ts";

export async function newOwner() {
  const world = await newWorld();
  const project = await newProject(world.client);
  const integration = await newIntegration(world.client, project.id);
  return { world, projectId: String(project.id), integrationId: String(integration.id) };
}

type Owner = Awaited<ReturnType<typeof newOwner>>;

/** A delivery with an attempt, and its event, which was last used at `usedAt`. */
export async function addDelivery(
  { world, projectId, integrationId }: Owner,
  fields: { createdAt: number; status?: string; usedAt?: number },
): Promise<{ delivery: string; event: string }> {
  const { createdAt, status = "succeeded", usedAt = createdAt } = fields;
  const delivery = idAt(createdAt);
  const event = idAt(createdAt);
  await env.DB.batch([
    env.DB.prepare(
      "insert into events values (?1, ?2, ?3, null, 'deployments.failed', '{}', ?4, ?5)",
    ).bind(event, world.id, projectId, createdAt, usedAt),
    env.DB.prepare(
      `insert into deliveries select ?1, organization_id, project_id, id, ?2, 'deployments.failed',
         ?3, ?4, 1, 4e12, ?3, ?3, null, null from integrations where id = ?5`,
    ).bind(delivery, event, createdAt, status, integrationId),
    env.DB.prepare("insert into delivery_attempts values (?1, 1, ?2, ?3, 1, 200, null, null)").bind(
      delivery,
      world.id,
      createdAt,
    ),
  ]);
  return { delivery, event };
}

export async function count(table: string, where: string, ...values: string[]): Promise<number> {
  const query = env.DB.prepare(`select count(*) as n from ${table} where ${where}`);
  return (await query.bind(...values).first<number>("n")) ?? 0;
}

export const exists = async (table: string, id: string) => (await count(table, "id = ?", id)) === 1;

export const OF_INTEGRATION = "integration_id = ?";
