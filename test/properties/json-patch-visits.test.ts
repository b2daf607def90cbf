import { describe, expect, it } from "vitest";
import { applyPatch, type Operation, PatchError } from "../../src/lib/json-patch.ts";
import { countNodes, nested } from "../support/json.ts";

const KIB = 1024;
const BOUNDS = { copiedBytes: 1024 * KIB, oldValueBytes: 256 * KIB };

describe("the number of visited nodes", () => {
  const visits = (document: unknown, patch: readonly object[], bounds = BOUNDS) => {
    const work = { nodes: 0 };
    try {
      applyPatch(document, patch as Operation[], bounds, work);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
    }
    return work.nodes;
  };
  const times = <Item>(count: number, make: (at: number) => Item) =>
    Array.from({ length: count }, (_, at) => make(at));
  const numbers = (count: number) => ({ a: times(count, (at) => at) });
  const each: Record<string, (size: number) => [unknown, object[]]> = {
    "a large document": (n) => [numbers(250 * n), [{ op: "add", path: "/b", value: 1 }]],
    "many operations": (n) => [{}, times(n, (at) => ({ op: "add", path: `/k${at}`, value: [at] }))],
    "the elements of a long array": (n) => [
      numbers(250 * n),
      times(n, (at) => ({ op: at % 2 ? "remove" : "add", path: "/a/0", value: 1 })),
    ],
    "long paths": (n) => [
      nested(n),
      times(n, () => ({ op: "test", path: "/a".repeat(n - 1), value: {} })),
    ],
    "large values": (n) => [{}, [{ op: "add", path: "/a", value: numbers(250 * n) }]],
    "tests of large values": (n) => [
      numbers(n),
      times(n, () => ({ op: "test", path: "", value: numbers(n) })),
    ],
    "moves of a large value": (n) => [
      numbers(250 * n),
      times(n, (at) => ({ op: "move", from: at % 2 ? "/b" : "/a", path: at % 2 ? "/a" : "/b" })),
    ],
  };

  it.each(Object.entries(each))("is linear in %s", (_, make) => {
    const sizes = [25, 50, 100, 200].map((size) => {
      const [document, patch] = make(size);
      const tokens = JSON.stringify(patch).split("/").length;
      return {
        nodes: visits(document, patch, { ...BOUNDS, oldValueBytes: 0 }),
        input: countNodes(document) + countNodes(patch) + tokens,
      };
    });
    for (const { nodes, input } of sizes) expect(nodes).toBeLessThan(4 * input);
  });

  it("grows by copies and old values only within their size limits", () => {
    const large = numbers(30_000);
    const input = countNodes(large) + 4 * 200;
    const copies = times(200, (at) => ({ op: "copy", from: "/a", path: `/b${at}` }));
    const replaced = times(200, () => ({ op: "replace", path: "", value: {} }));
    const removed = times(200, (at) => ({ op: "add", path: "/a/0", value: at }));
    const whole = times(200, () => ({ op: "test", path: "/b", value: 1 }));
    const moved = times(200, () => ({ op: "move", from: "/a", path: "/a" }));
    for (const patch of [copies, replaced, removed, whole, moved]) {
      const bound = BOUNDS.copiedBytes + BOUNDS.oldValueBytes;
      expect(visits(large, patch)).toBeLessThan(4 * input + bound);
      const none = { copiedBytes: 0, oldValueBytes: 0 };
      expect(visits(large, patch, none)).toBeLessThan(4 * input);
    }
  });
});
