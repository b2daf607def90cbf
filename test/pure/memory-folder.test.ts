import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { claimFolder } from "../memory-folder.ts";

function parentFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), "longshore-memory-"));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  return parent;
}

/** More than a third and less than half of what is free, whatever other programs write meanwhile. */
function twoFifths(parent: string): number {
  const { bavail, bsize } = statfsSync(parent);
  return Math.floor(bavail * bsize * 0.4);
}

describe("the folder of a run in memory", () => {
  it("is refused if the claims of the runs are more than the room", () => {
    const parent = parentFolder();
    const needed = twoFifths(parent);
    const first = claimFolder(parent, needed);
    const second = claimFolder(parent, needed, process.ppid);
    // Of another user, as a rule.
    expect(claimFolder(parent, needed, 1)).toBeUndefined();
    expect(
      readdirSync(parent)
        .map((name) => join(parent, name))
        .toSorted(),
    ).toEqual([String(first), String(second)].toSorted());
  });

  it("does not count runs that have ended, nor what is not of a run", () => {
    const parent = parentFolder();
    const { pid } = spawnSync(process.execPath, ["--version"]);
    mkdirSync(join(parent, `longshore-tests-${pid}-aaaaaa`));
    mkdirSync(join(parent, "longshore-tests-of-nobody"));
    mkdirSync(join(parent, "miniflare-6cb42796"));
    expect(claimFolder(parent, twoFifths(parent))).toBeDefined();
    expect(claimFolder(parent, twoFifths(parent), process.ppid)).toBeDefined();
  });

  it("lets other users pass, and not list what is in it", () => {
    const folder = claimFolder(parentFolder(), 1);
    expect(statSync(String(folder)).mode & 0o777).toBe(0o711);
  });

  it("is undefined where there is no such file system", () => {
    expect(claimFolder("/proc/longshore", 1)).toBeUndefined();
  });
});
