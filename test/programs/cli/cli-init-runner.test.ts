import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { InitUser, newName } from "../support/init-user.ts";
import { useService } from "../support/service.ts";

const service = useService();
let user: InitUser;

beforeEach(async () => {
  user = await InitUser.create(service);
});

describe("longshore runner after longshore init", () => {
  const help = (...args: string[]) => user.runProcess(["runner", ...args]);

  it("needs no URL and no token in the folder, and takes others if they are given", async () => {
    const args = ["init", "-p", newName(), "-e", "staging", "--stack", "web", "--with", "script"];
    const environment = { LONGSHORE_URL: undefined, LONGSHORE_API_KEY: undefined };
    await user.run(args);
    mkdirSync(user.inFolder("inside"));
    const once = ["runner", "--exec", "true", "--once", "--deployment", "no ID"];
    const ended = await user.runProcess(once, { changes: environment });
    expect(ended.stdout).toContain(`Waiting for deployments of ${service.url.origin}`);
    // The service has accepted the token, and refuses the ID.
    expect(ended.stderr).toMatch(/^POST \/v1\/runner\/claims: 400 bad_input/);
    // A clone inside of the folder gets no token.
    const inside = { folder: user.inFolder("inside"), changes: environment };
    const below = await user.runProcess(once, inside);
    expect([below.stdout, below.status]).toEqual(["", 2]);
    expect(below.stderr).toContain("Set --url to the URL of the API");
    const elsewhere = await help("--exec", "true", "--url", "http://127.0.0.1:9");
    expect(elsewhere.stderr).toBe(
      `The token that longshore init has stored for this folder is for ${service.url.origin}. Leave out --url, or pass another token with --token-file PATH.\n`,
    );
    writeFileSync(user.inFolder("runner.token"), "lsr_wrong\n", { mode: 0o600 });
    const given = ["--url", service.url.origin, "--token-file", "runner.token"];
    const refused = await help("--exec", "true", ...given);
    expect(refused.stderr).toContain("401 unauthenticated");
    expect([elsewhere.status, refused.status]).toEqual([2, 1]);
  });

  it("deploys what the pool of its own folder has, and not that of another folder", async () => {
    const folders = ["one", "two"].map((each) => user.inFolder(each));
    const deployments: string[] = [];
    for (const folder of folders) {
      mkdirSync(folder);
      const script = "#!/bin/sh\necho run in $(pwd)\n";
      writeFileSync(join(folder, "deploy.sh"), script, { mode: 0o755 });
      expect((await user.run(["init", "--yes", "-p", newName()], { folder })).status).toBe(0);
      deployments.push((await user.run(["deploy", "--quiet"], { folder })).stdout.trim());
    }
    for (const folder of folders.toReversed()) {
      const args = ["runner", "--exec", "./deploy.sh", "--once"];
      const ended = await user.runProcess(args, { folder });
      expect([ended.stderr, ended.status]).toEqual(["", 0]);
      const id = deployments[folders.indexOf(folder)];
      expect(ended.stdout).toContain(`Deployment ${id}: succeeded.`);
      expect(ended.stdout).toContain(`run in ${folder}`);
    }
    // A link of a stranger's folder chooses no token.
    const copied = user.inFolder("copied");
    mkdirSync(copied);
    cpSync(join(user.inFolder("one"), ".longshore.json"), join(copied, ".longshore.json"));
    const ended = await user.runProcess(["runner", "--exec", "true"], { folder: copied });
    expect(ended.stderr).toContain("Set --url to the URL of the API");
  });

  it("needs them elsewhere, also if the token was not confirmed", async () => {
    const stored = { url: service.url.origin, pool_id: "1", request: "1" };
    mkdirSync(user.inFolder("config"));
    writeFileSync(user.inFolder("config/runners.json"), JSON.stringify({ [user.folder]: stored }));
    const ended = await help("--exec", "true", "--url", service.url.origin);
    expect(ended.stderr).toContain("Set either --token-file");
    writeFileSync(user.inFolder("config/runners.json"), "{}");
    const other = await help("--exec", "true");
    expect(other.stderr).toContain("Set --url to the URL of the API");
    expect([ended.status, other.status]).toEqual([2, 2]);
    // What is not needed is not read.
    writeFileSync(user.inFolder("config/runners.json"), "[]");
    expect((await help("--exec", "true")).stderr).toContain("runners.json is not a JSON object.");
    const given = await help("--exec", "true", "--token-file", "none");
    expect(given.stderr).toContain("Set --url to the URL of the API");
  });
});
