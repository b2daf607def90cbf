import type { FamilyItem, FoundItem } from "./model.ts";

/** Parts of a walk may have the same item, and the same credentials. */
export async function mergeItems(
  parts: AsyncIterable<readonly FoundItem[]> | readonly (readonly FoundItem[])[],
  direction: "asc" | "desc",
): Promise<FamilyItem[]> {
  const items = new Map<string, FamilyItem & { credentials: Set<string> }>();
  for await (const part of parts) {
    for (const item of part) {
      const credentials = items.get(item.id)?.credentials ?? new Set();
      for (const each of JSON.parse(item.credentials ?? "[]")) credentials.add(each);
      items.set(item.id, { ...item, credentials });
    }
  }
  const sign = direction === "asc" ? 1 : -1;
  const compare = (a: FamilyItem, b: FamilyItem) =>
    sign * (a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  return [...items.values()].toSorted(compare);
}
