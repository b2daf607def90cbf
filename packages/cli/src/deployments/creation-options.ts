import { KINDS } from "../named-kinds.ts";
import { findRecord, type NamedRecord } from "../names.ts";
import type { CliContext, Session } from "../session.ts";
import { cleanReason } from "./commit-text.ts";

/** The reason, cleaned of what the service would refuse. Notes say what was changed. */
export function readReason(
  { output }: CliContext,
  { reason }: { reason?: string },
): string | undefined {
  if (reason === undefined) return undefined;
  const { value, remarks } = cleanReason(reason);
  for (const remark of remarks) output.note(remark);
  return value;
}

/** The IDs of the stacks of an environment that have these names or IDs. Undefined: all. */
export async function findStacks(
  session: Session,
  path: { environment_id: string },
  names: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (!names) return undefined;
  const ids = new Set<string>();
  for (const name of names) {
    const { id } = await findRecord<NamedRecord & { id: string }>(session, KINDS.stack, path, name);
    ids.add(id);
  }
  return [...ids];
}
