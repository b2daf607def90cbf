import { env } from "cloudflare:workers";
import type { Parsed } from "./client.ts";

interface Delivery {
  id: string;
  event_id: string;
  integration_id: string;
  type: string;
  data: string;
  occurred_at: number;
}

/** The deliveries of a project, oldest first. */
export async function listDeliveries(projectId: string) {
  const { results } = await env.DB.prepare(
    `select deliveries.*, events.data
      from deliveries join events on events.id = deliveries.event_id
      where deliveries.project_id = ? order by occurred_at, deliveries.id`,
  )
    .bind(projectId)
    .all<Delivery>();
  return results.map((row) => ({ ...row, data: JSON.parse(row.data) as Parsed }));
}
