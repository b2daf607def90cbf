import type { Actor } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import type { EncryptionContext } from "../../../lib/cipher.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { orgRoleReaches } from "../../../lib/roles.ts";
import { readStored, type SavingContext } from "./entry.ts";
import type { EntryRow } from "./store.ts";

/** What is sealed. */
interface StoredSecrets {
  /** Of the key at the first request. */
  authority: Authority;
  secrets: object;
}

type Authority = Pick<Actor, "role" | "scopes" | "projectIds" | "environmentIds">;

/**
 * Seals what only the first response and its repeats show. Undefined if the request has no
 * `Idempotency-Key`.
 */
export async function sealSecrets(
  ctx: SavingContext,
  secrets: object,
): Promise<string | undefined> {
  const request = ctx.idempotentRequest;
  if (!request) return undefined;
  const { entryId: id, actor } = request;
  const context = secretsContext({ id, organizationId: actor.organizationId });
  const stored: StoredSecrets = { authority: authorityOf(actor), secrets };
  return (await ctx.cipher()).seal(JSON.stringify(stored), context);
}

/**
 * The result of an entry, as the service returned it to the first request. Throws `Unauthorized`
 * for a result with secrets if the key has less than it had at the first request.
 */
export async function readResult(ctx: ServiceContext, entry: EntryRow): Promise<unknown> {
  const result = readStored(entry.result);
  if (entry.secrets === "") return result;
  const opened = await (await ctx.cipher()).open(entry.secrets, secretsContext(entry));
  const { authority, secrets } = JSON.parse(opened) as StoredSecrets;
  if (hasLess(ctx.actor, authority)) throw new Unauthorized(HAS_LESS);
  return { row: result, ...secrets };
}

const HAS_LESS =
  "This key has less access than at its first request, whose response has a secret. The secret is not " +
  "shown again.";

function authorityOf({ role, scopes, projectIds, environmentIds }: Actor): Authority {
  return { role, scopes, projectIds, environmentIds };
}

/** Whether the role is lower, or the key was narrowed: it cannot be widened. */
function hasLess(actor: Actor, { role, ...narrowing }: Authority): boolean {
  const { role: current, ...now } = authorityOf(actor);
  return !orgRoleReaches(current, role) || JSON.stringify(now) !== JSON.stringify(narrowing);
}

export function secretsContext(entry: { id: string; organizationId: string }): EncryptionContext {
  const { id, organizationId } = entry;
  return { table: "idempotency_records", row: id, organizationId, owners: [] };
}
