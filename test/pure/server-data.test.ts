import { mkdtempSync, rmSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { lockFolder } from "../../packages/server/src/data/folder-lock.ts";
import { Networks } from "../../packages/server/src/http/client-address.ts";
import { internetAnd } from "../../packages/server/src/runtime/outgoing-network.ts";

const folder = mkdtempSync(join(tmpdir(), "longshore-lock-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the lock of a data folder", () => {
  it.each([
    ["at http://localhost:8787", 11],
    ["for a backup", 12],
  ])(
    "of a process %s refuses others, which learn what to stop, until it is released",
    (use, pid) => {
      const file = join(folder, "lock.sqlite");
      const first = lockFolder(file, { pid, use });
      const second = () => lockFolder(file, { pid: 13, use: "for a restore" });
      expect(second).toThrow(
        `Longshore already runs on this data, ${use}: stop process ${pid} first.`,
      );
      first.release();
      second().release();
    },
  );
});

describe("where the Worker of a server sends requests", () => {
  const own = Object.values(networkInterfaces()).flatMap((each = []) => each);

  it("is the internet, and no address of this machine", () => {
    const { allow, deny } = internetAnd(new Networks([]));
    expect(allow).toEqual(["public"]);
    const denied = new Networks(deny);
    expect(own.length).toBeGreaterThan(0);
    for (const { address } of own) expect(denied.has(address.replace(/%.*$/, ""))).toBe(true);
    expect(denied.has("198.19.0.1")).toBe(true);
    expect(denied.has("203.0.113.1")).toBe(false);
  });

  it("is a network that the operator names, with this machine's addresses in it", () => {
    const { allow, deny } = internetAnd(new Networks(["127.0.0.0/8", "10.1.0.0/16"]));
    expect(allow).toEqual(["public", "127.0.0.0/8", "10.1.0.0/16"]);
    expect(deny.filter((each) => each.startsWith("127."))).toEqual([]);
  });
});
