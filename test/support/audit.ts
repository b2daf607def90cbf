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

/** The rows of the log of an organization, oldest first. */
export async function auditOf(organizationId: string): Promise<Parsed[]> {
  const { results } = await env.DB.prepare(
    "select * from audit_log where organization_id = ? order by created_at, id",
  )
    .bind(organizationId)
    .all();
  return results;
}

/** Makes every record of this credential fail; returns a function that ends this. */
export async function refuseRecords(credentialId: string): Promise<() => Promise<unknown>> {
  await env.DB.batch([
    // Once for each file: after a change of the schema, SQLite compiles every statement again.
    env.DB.prepare("create table if not exists refused_credentials (id text primary key)"),
    env.DB.prepare(
      `create trigger if not exists refuse_records before insert on audit_log
        when exists (select 1 from refused_credentials where id = new.credential_id)
        begin select raise(abort, 'refused'); end`,
    ),
    env.DB.prepare("insert into refused_credentials values (?)").bind(credentialId),
  ]);
  return () =>
    env.DB.prepare("delete from refused_credentials where id = ?").bind(credentialId).run();
}
