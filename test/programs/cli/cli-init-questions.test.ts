import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { InitUser, newName, RUNNER } from "../support/init-user.ts";
import { ScriptedProxy } from "../support/scripted-proxy.ts";
import { useService } from "../support/service.ts";

const RETURN = "\r";

const service = useService();
let proxy: ScriptedProxy;
let user: InitUser;

beforeAll(async () => {
  proxy = await ScriptedProxy.start(service.url);
});

afterAll(() => proxy.close());

beforeEach(async () => {
  user = await InitUser.create(service);
});

describe("longshore init in a terminal", () => {
  it("asks in a terminal, and proposes what the folder shows", async () => {
    const name = newName();
    writeFileSync(user.inFolder("compose.yaml"), "services: {}\n");
    const asked = await user.runAsked(
      ["init"],
      { text: "Project", answer: async () => name + RETURN },
      { text: "Environments", answer: async () => `staging, ${RETURN}` },
      { text: "Stacks", answer: async () => `web, jobs${RETURN}` },
      { text: "docker compose (compose.yaml)", answer: async () => RETURN },
    );
    expect(asked).toMatchObject({ stdout: RUNNER, status: 0 });
    expect(await user.readSetUp(name)).toMatchObject({
      stacks: { production: [], staging: ["jobs", "web"] },
      covered: ["staging"],
    });
    expect(readFileSync(user.inFolder("deploy.sh"), "utf8")).toContain("docker compose up");
  });

  it("asks before it uses a project that only has the name of the folder", async () => {
    const name = newName();
    const shop = user.inFolder(name);
    mkdirSync(shop);
    await user.client.call("POST", "/v1/projects", { name });
    const before = await user.readSetUp(name);
    const refused = await user.run(["init", "--yes"], { folder: shop });
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    expect(refused.stderr).toBe(
      `There is a project "${name}" already. Add --project ${name} to use it, or name another one. Nothing was changed.\n`,
    );
    const args = ["init", "-e", "production", "--stack", "web", "--with", "script"];
    const question = { text: `There is a project "${name}" already. Use it?` };
    const answer = (text: string) =>
      user.runAskedIn(
        shop,
        args,
        { text: "Project", answer: async () => RETURN },
        { ...question, answer: async () => text },
      );
    expect((await answer("n")).stderr).toContain("Nothing was changed.");
    expect(await user.readSetUp(name)).toEqual(before);
    expect(existsSync(join(shop, "deploy.sh"))).toBe(false);
    expect((await answer("y")).status).toBe(0);
    expect(await user.readSetUp(name)).toMatchObject({
      projects: 1,
      stacks: { production: ["web"] },
    });
  });

  it("asks before it uses the project of a .longshore.json that is not the user's own", async () => {
    const name = newName();
    await user.client.call("POST", "/v1/projects", { name });
    const before = await user.readSetUp(name);
    const clone = user.inFolder("clone");
    mkdirSync(clone);
    writeFileSync(join(clone, ".longshore.json"), JSON.stringify({ project: name }));
    const refused = await user.run(["init", "--yes"], { folder: clone });
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    expect(refused.stderr).toContain(`Add --project ${name} to use it`);
    const args = ["init", "-e", "production", "--stack", "web", "--with", "script"];
    const asked = await user.runAskedIn(
      clone,
      args,
      { text: "Project", answer: async () => RETURN },
      { text: `There is a project "${name}" already. Use it?`, answer: async () => "n" },
    );
    expect(asked.stderr).toContain("Nothing was changed.");
    expect(await user.readSetUp(name)).toEqual(before);
    expect(existsSync(join(clone, "deploy.sh"))).toBe(false);
    expect((await user.run([...args, "-p", name], { folder: clone })).status).toBe(0);
    // The folder is the user's own from now on.
    expect((await user.run(["init", "--yes"], { folder: clone })).status).toBe(0);
    expect(await user.readSetUp(name)).toMatchObject({ projects: 1, pools: 1 });
    // Not with another service.
    const changes = { LONGSHORE_URL: proxy.url };
    const elsewhere = await user.run(["init", "--yes"], { folder: clone, changes });
    expect([elsewhere.status, elsewhere.stderr]).toEqual([1, refused.stderr]);
  });

  it("asks before it uses a pool that has environments of other projects", async () => {
    const [name, other] = [newName(), newName()];
    const pools = `${user.organization}/runner-pools`;
    const { default_environment_id } = await user.client.call("POST", "/v1/projects", {
      name: other,
    });
    const body = { name, environment_ids: [default_environment_id] };
    const pool = await user.client.call("POST", pools, body);
    const args = ["init", "-p", name, "-e", "staging", "--stack", "web", "--with", "script"];
    const before = await user.readSetUp(name);
    const refused = await user.run([...args, "--yes"]);
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    expect(refused.stderr).toBe(
      `The runner pool "${name}" has environments of other projects, and a runner of this folder would deploy them, too. Add --pool NAME for another pool, or --pool ${name} to use this one. Nothing was changed.\n`,
    );
    const answer = (text: string) =>
      user.runAsked(args, { text: "would deploy them, too. Use it?", answer: async () => text });
    expect((await answer("n")).stderr).toContain("Nothing was changed.");
    expect(await user.readSetUp(name)).toEqual(before);
    expect(await user.client.call("GET", `${pools}/${pool.id}`)).toMatchObject(body);
    expect(existsSync(user.inFolder("deploy.sh"))).toBe(false);
    // Another pool.
    const own = `own-${name}`;
    expect((await user.run([...args, "--pool", own])).status).toBe(0);
    expect((await user.client.call("GET", `${pools}?name=${own}`)).data).toHaveLength(1);
    expect(await user.readSetUp(name)).toMatchObject({ pools: 1, covered: [], tokens: [] });
    // This one, which the folder has from then on.
    const missing = await user.run([...args, "--pool", "1Cg8yK6FQpG43h8EDMqZ3E"]);
    expect(missing.stderr).toBe("There is no runner pool with the ID 1Cg8yK6FQpG43h8EDMqZ3E.\n");
    expect((await answer("y")).status).toBe(0);
    expect((await user.run([...args, "-e", "eu", "--yes"])).status).toBe(0);
    expect(await user.readSetUp(name)).toMatchObject({ pools: 1, covered: ["eu", "staging"] });
    const { environment_ids } = await user.client.call("GET", `${pools}/${pool.id}`);
    expect(environment_ids).toContain(default_environment_id);
    expect(environment_ids).toHaveLength(3);
  });
});
