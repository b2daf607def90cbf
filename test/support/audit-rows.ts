import { env } from "cloudflare:workers";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";

export const ACTIONS = ["variable.updated", "project.updated", "api_key.created"] as const;
export const MINUTE = 60_000;
export const START = Date.parse("2026-03-01T00:00:00.000Z");

export interface Row {
  id: string;
  createdAt: number;
  action: string;
  credentialId: string;
  membershipId: string;
  targetId: string;
  projectId: string | null;
}

const ids = (count: number) => Array.from({ length: count }, () => newId(systemClock)).toSorted();

/** Three rows for each minute, with all combinations of actions, actors, targets and projects. */
export function rowsOf(count: number): Row[] {
  const [credentials, memberships, targets, projects] = [ids(2), ids(3), ids(5), ids(2)];
  const pick = (from: readonly string[], at: number) => String(from[at % from.length]);
  return ids(count).map((id, at) => ({
    id,
    createdAt: START + Math.floor(at / 3) * MINUTE,
    action: pick(ACTIONS, Math.floor(at / 2)),
    credentialId: pick(credentials, at),
    membershipId: pick(memberships, at),
    targetId: pick(targets, at),
    projectId: at % 4 === 0 ? null : pick(projects, at),
  }));
}

export async function insert(organizationId: string, rows: readonly Row[]): Promise<void> {
  await env.DB.prepare(
    `insert into audit_log (id, organization_id, created_at, action, outcome, actor_type,
       credential_id, membership_id, target_type, target_id, target_name, project_id)
     select value ->> 'id', ?2, value ->> 'createdAt', value ->> 'action', 'success', 'api_key',
       value ->> 'credentialId', value ->> 'membershipId', 'variable', value ->> 'targetId',
       'name', value ->> 'projectId' from json_each(?1)`,
  )
    .bind(JSON.stringify(rows), organizationId)
    .run();
}

export const pathOf = ({ id }: { id: string }) => `/v1/orgs/${id}/audit-log`;
export const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id);
export const at = (time: number) => new Date(time).toISOString();
