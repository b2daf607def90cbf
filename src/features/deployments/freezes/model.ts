export const WHAT_FREEZES = "freezes of an organization";

export interface FreezeInput {
  name: string;
  reason: string;
  startsAt: number;
  endsAt: number;
  environmentIds: readonly string[] | null;
  override: readonly string[];
}
