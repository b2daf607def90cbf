import { type Actor, hasProjectRole } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { Forbidden } from "../../../lib/errors.ts";
import type { ProjectRole } from "../../../lib/roles.ts";
import {
  NOT_FULL,
  notFullIn,
  refuseEscalation,
  requireFullWhereProtected,
} from "../../housekeeping/audit/index.ts";
import {
  AccessDenied,
  describeMembers,
  type Members,
  type Permission,
  parseRules,
} from "./model.ts";
import * as store from "./store.ts";

interface Protected {
  /** Of its environment. Null: none. */
  rules: string | null;
  memberRole: ProjectRole | null;
}

export function isAmong(
  actor: Actor,
  found: Pick<Protected, "memberRole">,
  members: Members,
): boolean {
  return members.role
    ? hasProjectRole(actor, found, members.role)
    : (members.membership_ids ?? []).includes(actor.membershipId);
}

/** Throws `AccessDenied` unless the rules of the environment permit it. The role is checked before. */
export async function requireAccess(
  ctx: ServiceContext,
  found: Protected,
  permission: Permission,
): Promise<void> {
  const members = parseRules(found.rules)?.access[permission];
  if (!members || isAmong(ctx.actor, found, members)) return;
  throw new AccessDenied(await nameMembers(ctx, members), permission);
}

export async function nameMembers(ctx: ServiceContext, members: Members): Promise<string> {
  const { membership_ids: ids } = members;
  if (!ids) return describeMembers(members, []);
  const rows = await store.listMembers(ctx.db, ctx.actor.organizationId, ids);
  return describeMembers(
    members,
    rows.map(({ name }) => name),
  );
}

/** What changing the rules of an environment needs. */
export async function requireRuleAuthority(
  ctx: ServiceContext,
  found: Protected & { id: string; name: string },
): Promise<void> {
  const { id, name, rules } = found;
  if (!hasProjectRole(ctx.actor, found, "owner")) throw new Forbidden("owner");
  if (ctx.actor.isFull) return;
  const refusal = rules === null ? NOT_FULL : notFullIn(name);
  await refuseEscalation(ctx, { type: "environment", id, name }, refusal);
}

/** What changing a project needs beside the role, as far as the rules of its environments depend on it. */
export async function requireProjectAuthority(
  ctx: ServiceContext,
  { id, name }: { id: string; name: string },
): Promise<void> {
  const place = { projectIds: [id], environmentIds: null };
  await requireFullWhereProtected(ctx, { type: "project", id, name }, place);
}
