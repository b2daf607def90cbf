import { execFile, execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CliUser, cliCommand } from "../support/cli.ts";
import { listen } from "../support/listen.ts";
import { newClient, useService } from "../support/service.ts";

const POLLING = { interval: 100, timeout: 300_000 };

const service = useService();
let user: CliUser;

beforeEach(() => {
  user = new CliUser();
});

afterEach(() => user.remove());

/** Each key has its own rate limit. */
async function useNewKey(): Promise<void> {
  user = CliUser.of(await newClient(service));
}

describe("longshore completion", () => {
  it("completes commands and options in bash", async () => {
    const { stdout } = await user.run(["completion", "bash"]);
    writeFileSync(join(user.folder, "completion"), stdout);
    const complete = (...words: string[]) => {
      const script = `. ./completion
COMP_WORDS=(longshore ${words.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${words.length}
_longshore; echo "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", script], { cwd: user.folder, encoding: "utf8" }).trim();
    };
    expect(complete("proj")).toBe("projects");
    expect(complete("projects", "c")).toBe("create connect");
    expect(complete("pools", "tokens", "r")).toBe("revoke");
    expect(complete("keys", "create", "laptop", "--ou")).toBe("--output");
    expect(complete("keys", "--help", "--prof")).toBe("--profile");
    expect(complete("nothing", "c")).toBe("");
    expect(complete("--profile", "prod", "projects", "c")).toBe("create connect");
    expect(complete("environments", "-p", "shop", "cr")).toBe("create");
    expect(complete("completion", "z")).toBe("zsh");
    expect(complete("run", "--", "npm", "--p")).toBe("");
  });

  it("completes names that the service knows, evaluates none, and is silent without it", async () => {
    await useNewKey();
    const [shop, other] = [`$(touch pwned) "${crypto.randomUUID()}"`, crypto.randomUUID()];
    for (const name of [shop, other]) await user.run(["projects", "create", name]);
    await user.run(["environments", "create", "stage-two", "-p", other]);
    await user.run(["stacks", "create", "web", "-p", other, "-e", "stage-two"]);
    const { stdout } = await user.run(["completion", "bash"]);
    writeFileSync(join(user.folder, "completion"), stdout);
    const [command, args] = cliCommand([]);
    const program = `#!/bin/sh\nexec ${[command, ...args].join(" ")} "$@"\n`;
    writeFileSync(join(user.folder, "longshore"), program, { mode: 0o755 });
    const complete = async (words: readonly string[], changes: NodeJS.Dict<string> = {}) => {
      const script = `. ./completion
COMP_WORDS=(longshore "$@"); COMP_CWORD=$#
_longshore; printf '%s\n' "\${COMPREPLY[@]}"`;
      const PATH = `${user.folder}:${process.env["PATH"]}`;
      const env = { ...user.environment(changes), PATH };
      const bash = ["-c", script, "bash", ...words];
      const { stdout } = await promisify(execFile)("bash", bash, { cwd: user.folder, env });
      return stdout.trim();
    };
    /** On a busy machine, the service may not answer in the time that a suggestion has. */
    const suggest = (words: readonly string[]) => vi.waitUntil(() => complete(words), POLLING);
    const quoted = shop.replaceAll(/[$()" ]/g, "\\$&");
    expect(await suggest(["projects", "show", "$("])).toBe(quoted);
    expect(await suggest(["deploy", "-p", other.slice(0, 12)])).toBe(other);
    expect(await suggest(["environments", "rm", "-p", other, "s"])).toBe("stage-two");
    expect(await suggest(["deploy", "-p", other, "-e", "stage-two", "--stack", "w"])).toBe("web");
    expect(await complete(["deploy", "--stack", ""])).toBe("");
    const promote = ["deployments", "promote", "1CgMoo6Wfj9u5hu6v1REVC", "-p", other, "--to"];
    expect(await suggest([...promote, "s"])).toBe("stage-two");
    expect(await complete(["rollback", "-p", other, "--to", "s"])).toBe("");
    expect(await complete(["projects", "show", "--j"])).toBe("--json");
    const nowhere = { LONGSHORE_URL: "http://127.0.0.1:9" };
    expect(await complete(["projects", "show", ""], nowhere)).not.toContain(other);
    expect(existsSync(join(user.folder, "pwned"))).toBe(false);
  });

  it("lists no names that a terminal would show otherwise, and waits for 1.5 seconds at most", async () => {
    await useNewKey();
    const hidden = crypto.randomUUID();
    await user.run(["projects", "create", hidden]);
    // The service accepts no such name. Older ones stay.
    await service.d1
      .prepare("UPDATE projects SET name = 'hidden' || char(8238) WHERE name = ?")
      .bind(hidden)
      .run();
    const named = `shown-${crypto.randomUUID()}`;
    await user.run(["projects", "create", named]);
    const list = async () => {
      const names = await user.run(["__names", "projects", "--", "deploy", "-p"]);
      return names.stdout !== "" && names;
    };
    const names = await vi.waitUntil(list, POLLING);
    expect(names.stdout).toContain(`${named}\n`);
    expect(names.stdout).not.toContain("hidden");
    const LONGSHORE_URL = await listen(() => undefined);
    const before = performance.now();
    const nothing = await user.run(["__names", "projects"], { changes: { LONGSHORE_URL } });
    expect(nothing).toEqual({ stdout: "", stderr: "", status: 0 });
    // Another command waits for 30 s.
    expect(performance.now() - before).toBeLessThan(20_000);
    expect(await user.run(["__names", "constructor"])).toEqual(nothing);
  });

  it("prints scripts for zsh and fish, and for no other shell", async () => {
    const zsh = await user.run(["completion", "zsh"]);
    expect(zsh.stdout).toContain("compdef _longshore longshore");
    const fish = await user.run(["completion", "fish"]);
    expect(fish.stdout).toContain(
      `complete -c longshore -n "__longshore_after pools tokens" -a revoke`,
    );
    expect(fish.stdout).toContain(
      `complete -c longshore -n "__longshore_below deployments promote" -l to -xa '(longshore __names environments -- `,
    );
    expect(fish.stdout).toContain("complete -c longshore -l project -s p -xa '(longshore __names");
    const { stderr, status } = await user.run(["completion", "tcsh"]);
    expect(stderr).toContain("Allowed choices are bash, zsh, fish.");
    expect([zsh.status, fish.status, status]).toEqual([0, 0, 1]);
  });
});
