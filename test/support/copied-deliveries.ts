import { env } from "cloudflare:workers";
import { newDelivery } from "./integrations.ts";

/** One is made as usual. The others differ by their IDs only. */
export async function copyDeliveries(integrationId: string, rows: number): Promise<void> {
  const id = await newDelivery(integrationId);
  const columns =
    "organization_id, project_id, integration_id, event_id, type, occurred_at, status, attempts, due_at, created_at, updated_at, finished_at, failure_reason";
  await env.DB.prepare(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
     insert into deliveries (id, ${columns}) select substr(id, 1, 18) || printf('%04d', i),
       ${columns} from n join deliveries on deliveries.id = ?2`,
  )
    .bind(rows - 1, id)
    .run();
}
