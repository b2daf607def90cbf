import { env } from "cloudflare:workers";
import type { Parsed } from "./client.ts";
import { newKey, type World } from "./world.ts";

/** The audit log of an organization, oldest first. */
export async function listAuditLog(world: World, query = ""): Promise<Parsed[]> {
  const { client } = await newKey(world);
  const records: Parsed[] = [];
  for (let after = ""; ; ) {
    const path = `/v1/orgs/${world.id}/audit-log?sort_by=created_at&limit=240${query}${after}`;
    const { body } = await client.get(path);
    records.push(...body.data);
    if (!body.has_more) return records;
    after = `&after=${body.next_page}`;
  }
}

/** Makes every record of this credential fail; returns a function that ends this. */
export async function refuseRecords(credentialId: string): Promise<() => Promise<unknown>> {
  const name = `refuse_${credentialId}`;
  await env.DB.prepare(
    `create trigger ${name} before insert on audit_log
      when new.credential_id = '${credentialId}' begin select raise(abort, 'refused'); end`,
  ).run();
  return () => env.DB.prepare(`drop trigger ${name}`).run();
}
