import { env } from "cloudflare:workers";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Parsed } from "./client.ts";

/** An integration of a project that wants these kinds, as it is stored; gives its ID. */
export async function plantIntegration(
  project: Parsed,
  kinds: readonly string[],
  id: string = newId(systemClock),
): Promise<string> {
  const configuration = JSON.stringify(Object.fromEntries(kinds.map((kind) => [kind, true])));
  await env.DB.prepare(
    `insert into integrations (id, organization_id, project_id, type, configuration, url, shown_url,
      created_at, updated_at) values (?, ?, ?, 'webhook', ?, '', '', 1, 1)`,
  )
    .bind(id, project.org_id, project.id, configuration)
    .run();
  return id;
}

interface Delivery {
  id: string;
  event_id: string;
  integration_id: string;
  type: string;
  data: string;
  occurred_at: number;
}

/** What is in the outbox of a project, in the order that it was written. */
export async function listDeliveries(projectId: string) {
  const { results } = await env.DB.prepare(
    "select * from deliveries where project_id = ? order by occurred_at, id",
  )
    .bind(projectId)
    .all<Delivery>();
  return results.map((row) => ({ ...row, data: JSON.parse(row.data) as Parsed }));
}
