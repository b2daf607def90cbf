import type { OwnOrganization } from "./store.ts";

/** @param currentId Of the organization of the session. */
export function presentOrganization(row: OwnOrganization, currentId: string) {
  const { organizationId: id, organizationName: name, role } = row;
  return { id, name, role, current: id === currentId };
}
