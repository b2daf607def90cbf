/** Who holds the lock of a state, as the error has it. */
export interface LockHolder {
  id: string;
  who: string;
  created: string;
  operation: string;
}

/** Undefined: the text says nothing of a lock that another process holds. */
export function readLockHolder(text: string): LockHolder | undefined {
  if (!text.includes("Error acquiring the state lock")) return undefined;
  const read = (name: string) =>
    new RegExp(`^\\W*${name}:[ \\t]*(.*?)[ \\t]*$`, "m").exec(text)?.[1] ?? "";
  const id = read("ID");
  if (id === "") return undefined;
  return { id, who: read("Who"), created: read("Created"), operation: read("Operation") };
}

export function describeLock({ id, who, created, operation }: LockHolder): string {
  const forWhat = operation && ` for ${operation.replace("OperationType", "").toLowerCase()}`;
  return `The state is locked by ${who || "an unknown user"}${forWhat}, since ${created || "an unknown time"} (lock ${id}).`;
}
