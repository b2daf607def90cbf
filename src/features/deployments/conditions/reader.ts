/** Whoever reads a message: it names only what is within these boundaries. Null: all. */
export interface Reader {
  projectIds: readonly string[] | null;
  environmentIds: readonly string[] | null;
}

/** The service itself, which shows its messages to nobody. */
export const SERVICE: Reader = { projectIds: null, environmentIds: null };

/** An environment of a project that the reader can access. */
export function maySee({ environmentIds }: Reader, id: string): boolean {
  return environmentIds === null || environmentIds.includes(id);
}

export function seesOrganization({ projectIds, environmentIds }: Reader): boolean {
  return projectIds === null && environmentIds === null;
}
