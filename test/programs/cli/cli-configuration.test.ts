import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { CliUser } from "../support/cli.ts";
import { type ApiClient, newClient, type Parsed, useService } from "../support/service.ts";

const service = useService();
let client: ApiClient;
let user: CliUser;
let production: Parsed;
let staging: Parsed;

beforeEach(async () => {
  client = await newClient(service);
  const project = await client.call("POST", "/v1/projects", { name: crypto.randomUUID() });
  const environments = `/v1/projects/${project.id}/environments`;
  production = { id: project.default_environment_id };
  staging = await client.call("POST", environments, { name: "staging" });
  user = CliUser.of(client);
  await user.link({ project: project.id, environment: "production" });
});

const inFolder = (name: string) => join(user.folder, name);

describe("longshore configuration", () => {
  const configuration = (args: string[], input?: string) =>
    user.run(["configuration", ...args], input === undefined ? {} : { input });
  const replace = (value: object, { id } = production, name = "production") =>
    client.call("PUT", `/v1/environments/${id}`, { name, configuration: value });
  const current = async () =>
    (await client.call("GET", `/v1/environments/${production.id}`)).configuration;

  it("is printed as it is, and replaced after its difference is shown", async () => {
    const before = { replicas: 1, text: "\u202e", hosts: ["a", "b"] };
    await replace(before);
    const got = await configuration(["get"]);
    expect(JSON.parse(got.stdout)).toEqual(before);
    expect([got.status, got.stdout]).toEqual([0, expect.not.stringContaining("\u202e")]);
    expect(got.stderr).toMatch(/^Version: [^\s"]+\n$/);
    expect((await configuration(["set", "-", "--yes"], got.stdout)).stderr).toBe(
      "There is nothing to change in production.\n",
    );
    const after = JSON.stringify({ replicas: 3, text: "\u202e", hosts: ["a", "b"] });
    const unasked = await configuration(["set", "-"], after);
    expect([unasked.status, unasked.stdout]).toEqual([1, "- /replicas 1\n+ /replicas 3\n"]);
    expect(await current()).toEqual(before);
    const set = await configuration(["set", "-", "--yes"], after);
    expect([set.status, set.stderr]).toEqual([0, "The configuration of production is replaced.\n"]);
    expect(await current()).toEqual({ ...before, replicas: 3 });
  });

  it("is not replaced if somebody has changed it since it was read, or while it is compared", async () => {
    await replace({ replicas: 1 });
    const [, version = ""] = /^Version: (.*)$/m.exec((await configuration(["get"])).stderr) ?? [];
    for (const [at, text] of [version, `"${version}"`, "*"].entries()) {
      const given = JSON.stringify({ replicas: 1, at });
      const isCurrent = at === 0 || text === "*";
      const set = await configuration(["set", "-", "--yes", "--if-match", text], given);
      expect([text, set.status]).toEqual([text, isCurrent ? 0 : 1]);
      expect(set.stderr).toContain(isCurrent ? "is replaced" : "Somebody has changed");
    }
    await replace({ replicas: 2 });
    const old = await configuration(["set", "-", "--yes", "--if-match", version], '{"replicas":3}');
    expect([old.status, old.stderr]).toEqual([
      1,
      expect.stringContaining("Somebody has changed the configuration of production since."),
    ]);
    writeFileSync(inFolder("mine.json"), '{"replicas": 4}');
    const meanwhile = await user.runAsked(["configuration", "set", "mine.json"], {
      text: "Replace the configuration of production?",
      answer: async () => {
        await replace({ replicas: 5 });
        return "y";
      },
    });
    expect(meanwhile.status).toBe(1);
    expect(meanwhile.stderr).toContain("Run: longshore configuration diff mine.json");
    expect(await current()).toEqual({ replicas: 5 });
  });

  it("is compared with a file, or with another environment", async () => {
    await replace({ replicas: 2, beta: true });
    await replace({ replicas: 1, beta: true }, staging, "staging");
    const withStaging = await configuration(["diff", "--with", "staging", "--exit-code"]);
    expect([withStaging.stdout, withStaging.status]).toEqual(["- /replicas 2\n+ /replicas 1\n", 1]);
    const same = await configuration(["diff", "-", "--exit-code"], '{"beta":true,"replicas":2}');
    expect(same).toEqual({ stdout: "", stderr: "The configurations do not differ.\n", status: 0 });
    const json = await configuration(["diff", "-", "--json"], '{"replicas":2}');
    expect(JSON.parse(json.stdout)).toEqual([{ op: "remove", path: "/beta", old_value: true }]);
    expect((await configuration(["diff"])).stderr).toContain("Name either a file, or another");
    const list = await configuration(["set", "-", "--yes"], "[]");
    expect([list.status, list.stderr]).toEqual([1, "A configuration is a JSON object.\n"]);
  });
});
