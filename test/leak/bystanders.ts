import { env } from "cloudflare:workers";
import { type OrgRole, orgRoleReaches } from "../../src/lib/roles.ts";
import type { Fixture } from "./fixtures.ts";
import type { LeakWorker } from "./worker.ts";

/** A key that nobody has leaked. */
export interface Bystander {
  kind: string;
  key: string;
  keyId: string;
  role: OrgRole;
  membershipId: string;
  organizationId: string;
}

interface Authority {
  id: string;
  /** All that decides what the key may do. */
  text: string;
}

/** What each key may do, by its ID. Keys that have ended are absent. */
export async function readAuthorities(
  bystanders: readonly Pick<Bystander, "keyId">[],
): Promise<Map<string, string>> {
  const select = env.DB.prepare(
    `select api_keys.id, json_array(api_keys.role, memberships.role, memberships.status, scopes, project_ids,
        environment_ids, expires_at, is_own) as text
      from api_keys join memberships on memberships.id = api_keys.membership_id
      where api_keys.id in (select value from json_each(?))`,
  ).bind(JSON.stringify(bystanders.map(({ keyId }) => keyId)));
  const { results } = await select.all<Authority>();
  return new Map(results.map(({ id, text }) => [id, text]));
}

/** The keys that the attacker has changed without the authority to do so. */
export async function findLosses(
  fixture: Fixture,
  start: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): Promise<string[]> {
  const losses: string[] = [];
  for (const bystander of fixture.bystanders) {
    const { kind, keyId } = bystander;
    if (now.get(keyId) === start.get(keyId) || (await mayChange(fixture, bystander))) continue;
    losses.push(`the attacker changed ${kind} to ${now.get(keyId) ?? "nothing"}`);
  }
  return losses;
}

/**
 * Acting on a key needs its access. Any administrator may remove a member or lower the role, so that the
 * keys of the membership end or lose theirs.
 */
async function mayChange({ home, leak }: Fixture, bystander: Bystander): Promise<boolean> {
  const { organizationId, membershipId, role } = bystander;
  if (organizationId !== home) return false;
  const isOwn = membershipId === leak.membershipId;
  const managesRole = leak.role !== "member" && orgRoleReaches(leak.role, role);
  if (!isOwn && !managesRole) return false;
  const hasAccess = !leak.isNarrowed && orgRoleReaches(leak.role, role);
  return hasAccess || !(await isMember(membershipId, role));
}

async function isMember(membershipId: string, role: OrgRole): Promise<boolean> {
  const select = env.DB.prepare("select 1 from memberships where id = ? and role = ?");
  return (await select.bind(membershipId, role).first()) !== null;
}

/**
 * The keys that the containment has ended or changed, of those that were left.
 * @param options.tried Selects one of them, which sends a request.
 */
export async function findOverreach(
  worker: LeakWorker,
  bystanders: readonly Bystander[],
  { before, tried }: { before: ReadonlyMap<string, string>; tried: number },
): Promise<string[]> {
  const after = await readAuthorities(bystanders);
  const overreach = bystanders
    .filter(({ keyId }) => after.get(keyId) !== before.get(keyId))
    .map(({ kind }) => `the containment changed ${kind}`);
  const left = bystanders.filter(({ keyId }) => before.has(keyId));
  const bystander = left[tried % left.length];
  if (!bystander) return overreach;
  const { status } = await worker.send({
    method: "GET",
    path: "/v1/orgs",
    credential: bystander.key,
  });
  if (status !== 200) overreach.push(`${bystander.kind} gets ${status} after the containment`);
  return overreach;
}
