import type { FamilyItem, FoundItem } from "./model.ts";

/** Parts of a walk may have the same item, and the same credentials. */
export async function mergeItems(
  parts: AsyncIterable<readonly FoundItem[]> | readonly (readonly FoundItem[])[],
  direction: "asc" | "desc",
): Promise<FamilyItem[]> {
  const items = new Map<string, FamilyItem>();
  for await (const part of parts) {
    for (const item of part) {
      const found: string[] = JSON.parse(item.credentials ?? "[]");
      const known = items.get(item.id)?.credentials ?? [];
      items.set(item.id, { ...item, credentials: new Set([...known, ...found]) });
    }
  }
  const sign = direction === "asc" ? 1 : -1;
  const compare = (a: FamilyItem, b: FamilyItem) =>
    sign * (a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  return [...items.values()].toSorted(compare);
}
