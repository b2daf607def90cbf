import { describe, expect, it, type TestContext, vi } from "vitest";
import { prepareExecutor } from "../support/executor-setup.ts";
import { RunnerFixture } from "../support/fixture.ts";
import { POLLING, toStatuses } from "../support/reports.ts";

const fixture = RunnerFixture.use();

const prepareCompose = (context: TestContext) =>
  prepareExecutor(fixture, context, { executor: "compose", tool: "docker" });
const toFile = (services: object, rest: object = {}) => JSON.stringify({ services, ...rest });
/** Longer than a runner may be silent. */
const LEASE_MS = 600_000;
const SUCCEEDED = { status: "succeeded", stacks: ["succeeded"] };
const FILES = { files: ["compose.json"] };
const WEB = { image: "${IMAGE:-shop:1}", ports: ["8080:80"] };

describe.concurrent("the executor compose", () => {
  it("deploys a project of the stack on the host of the connection, and reports its services as they change", async (context) => {
    const setup = await prepareCompose(context);
    const { project, deploy, start, calls, connect, stackId, readResources } = setup;
    setup.write("hold", "");
    await connect({ provider: "ssh", host: "web-1.example.com:2222", user: "deploy" });
    const services = { web: WEB, db: { image: "postgres:17", profiles: ["all"] } };
    const settings = {
      ...{ files: ["compose.json", "other.json"], profiles: ["all"], timeout: "90s" },
      variables: { IMAGE: "shop:2", NOTE: 'a "b" $c\n\\d' },
    };
    const id = await deploy(settings, {
      "compose.json": toFile(services),
      "other.json": toFile({ job: { image: "job:1" } }),
    });
    start("--once");
    await vi.waitUntil(
      async () => toStatuses(await readResources()).includes("web: CREATE_IN_PROGRESS"),
      POLLING,
    );
    setup.removeFile("hold");
    expect(await project.waitForEnd(id)).toEqual(SUCCEEDED);
    const resources = await readResources();
    expect(toStatuses(resources)).toEqual([
      "db: CREATE_COMPLETE",
      "job: CREATE_COMPLETE",
      "network.default: UPDATE_COMPLETE",
      "web: CREATE_COMPLETE",
    ]);
    const name = `longshore-${stackId.replaceAll(/[A-Z]/g, (letter: string) => `0${letter.toLowerCase()}`)}`;
    expect(resources.find(({ template_id }) => template_id === "web")).toMatchObject({
      physical_id: `${name}-web-1`,
      resource_type: "Service",
      status_reason: "shop:2: running, healthy",
    });
    expect(await setup.readOutputs()).toEqual({
      web_80: "web-1.example.com:8080",
      url: "http://web-1.example.com:8080",
    });
    const all = calls();
    expect(new Set(all.map(({ host }) => host))).toEqual(
      new Set(["ssh://deploy@web-1.example.com:2222"]),
    );
    const commands = all
      .filter(({ args }) => args[0] === "compose")
      .map(({ args }) => args.slice(1));
    expect(
      commands.every((args) => args[0] === "version" || args[0] === `--project-name=${name}`),
    ).toBe(true);
    expect(commands.filter((args) => args.includes("--profile=all"))).toHaveLength(2);
    expect(commands.at(-1)?.slice(-6)).toEqual([
      ...["up", "--detach", "--wait", "--wait-timeout=90", "--remove-orphans", "--no-build"],
    ]);
    const log = await fixture.log(id);
    expect(log).toContain(`Deploys the project ${name} to ssh://deploy@web-1.example.com:2222.`);
    expect(log).toContain('"image": "${IMAGE:-shop:1}"');
    expect(log).toContain("create web (shop:2)\ncreate db (postgres:17)\ncreate job (job:1)\n");
  });

  it("removes services that the files no longer have, and keeps those that have not changed", async (context) => {
    const { project, deploy, start, readResources } = await prepareCompose(context);
    const db = { image: "postgres:17" };
    const first = await deploy(FILES, {
      "compose.json": toFile({ web: WEB, db, old: { image: "old:1" } }),
    });
    const second = await deploy(
      { ...FILES, url: "https://${environment.name}.example.com" },
      { "compose.json": toFile({ web: { ...WEB, image: "shop:2" }, db }) },
    );
    start();
    expect(await project.waitForEnd(first)).toEqual(SUCCEEDED);
    expect(await project.waitForEnd(second)).toEqual(SUCCEEDED);
    expect(await fixture.log(second)).toContain(
      "update web (shop:1 -> shop:2)\nkeep   db (postgres:17), unless its image has changed\nremove old\n",
    );
    expect(toStatuses(await readResources())).toEqual(
      expect.arrayContaining(["db: UPDATE_COMPLETE", "web: UPDATE_COMPLETE"]),
    );
  });

  it("says which service fails, with its last lines, and rolls back to the file and the images of the last success", async (context) => {
    const { project, deploy, start, read, write, readResources } = await prepareCompose(context);
    const settings = { ...FILES, rollback: true };
    const good = await deploy(settings, { "compose.json": toFile({ web: WEB }) });
    const runner = start();
    expect(await project.waitForEnd(good)).toEqual(SUCCEEDED);
    const { images, containers } = JSON.parse(read("engine.json"));
    write("registry", "another image of the same name");
    const extra = { web: WEB, worker: { image: "shop:exits" } };
    const bad = await deploy(settings, { "compose.json": toFile(extra) });
    const { status, stacks } = await project.waitForEnd(bad);
    expect(status).toBe("failed");
    expect(stacks[0]).toMatch(
      new RegExp(
        `docker compose up fails \\(longshore-\\w+-worker-1: exited with 3\\)\\. The log says why\\. ` +
          `What the deployment ${good} has deployed runs again\\.$`,
      ),
    );
    expect(await fixture.log(bad)).toContain("web-1 | Cannot reach the database.");
    const after = JSON.parse(read("engine.json"));
    expect(after.images["shop:1"]).toBe(images["shop:1"]);
    expect(after.containers).toEqual(containers);
    expect(
      toStatuses((await readResources()).filter(({ template_id }) => template_id === "web")),
    ).toEqual(["web: UPDATE_ROLLBACK_COMPLETE"]);
    // A success without the setting leaves nothing to roll back to.
    const plain = await deploy(FILES, { "compose.json": toFile({ web: WEB }) });
    expect(await project.waitForEnd(plain)).toEqual(SUCCEEDED);
    expect(JSON.parse(read("engine.json")).imported).toEqual({});
    const none = await deploy(settings, {
      "compose.json": toFile({ web: { image: "shop:sick" } }),
    });
    expect((await project.waitForEnd(none)).stacks[0]).toMatch(
      /web-1: running, unhealthy\)\. The log says why\. There is no earlier success to roll back to\.$/,
    );
    expect(runner.output).not.toContain("Unexpected");
  });

  it("says so if the rollback fails, because the services or the images of the last success are gone", async (context) => {
    const { project, deploy, start, read, write } = await prepareCompose(context);
    const settings = { ...FILES, rollback: true };
    const good = await deploy(settings, { "compose.json": toFile({ web: WEB }) });
    start();
    expect(await project.waitForEnd(good)).toEqual(SUCCEEDED);
    const { imported, ...engine } = JSON.parse(read("engine.json"));
    write("engine.json", JSON.stringify({ ...engine, imported, ids: [] }));
    const sick = { "compose.json": toFile({ web: { image: "shop:sick" } }) };
    const withoutImage = await deploy(settings, sick);
    expect((await project.waitForEnd(withoutImage)).stacks[0]).toMatch(
      /unhealthy\)\. The log says why\. The rollback fails: the engine no longer has the earlier image of shop:1\.$/,
    );
    // What was kept does not become healthy either.
    const kept = Object.entries<string>(imported).map(([name, text]) => [
      name,
      text.replaceAll('"shop:1"', '"shop:sick"'),
    ]);
    write("engine.json", JSON.stringify({ ...engine, imported: Object.fromEntries(kept) }));
    const both = await deploy(settings, {
      "compose.json": toFile({ web: { image: "shop:exits" } }),
    });
    expect((await project.waitForEnd(both)).stacks[0]).toMatch(
      /exited with 3\)\. The log says why\. The rollback fails, too\.$/,
    );
  });

  it("changes nothing if an image cannot be pulled", async (context) => {
    const { project, deploy, start, read } = await prepareCompose(context);
    const id = await deploy(FILES, { "compose.json": toFile({ web: { image: "shop:missing" } }) });
    start("--once");
    expect((await project.waitForEnd(id)).stacks[0]).toContain(
      "docker compose pull fails, so no container was changed. The log says why.",
    );
    expect(await fixture.log(id)).toContain("manifest for shop:missing not found");
    expect(read("engine.json")).toBe("");
  });

  it("stops waiting when it is canceled, reports what it sees, and the next run waits until that has settled", async (context) => {
    const { project, deploy, start, readResources, read, write } = await prepareCompose(context);
    const id = await deploy(FILES, { "compose.json": toFile({ web: { image: "shop:slow" } }) });
    start();
    // Before that, the service is CREATE_IN_PROGRESS without a container.
    await vi.waitUntil(
      async () =>
        (await readResources()).some(
          ({ status_reason: reason }) => reason === "shop:slow: running, starting",
        ),
      POLLING,
    );
    await project.cancel(id);
    const { status, stacks } = await project.waitForEnd(id);
    expect([status, stacks[0]]).toEqual(["canceled", expect.stringContaining("canceled")]);
    expect(toStatuses(await readResources())).toContain("web: CREATE_IN_PROGRESS");
    const next = await deploy(FILES, { "compose.json": toFile({ web: WEB }) });
    const waits =
      /Waits until what an earlier run started has settled: \S+-web-1: running, starting\./;
    await vi.waitUntil(async () => waits.test(await fixture.log(next)), POLLING);
    write("engine.json", read("engine.json").replace('"starting"', '"healthy"'));
    expect(await project.waitForEnd(next)).toEqual(SUCCEEDED);
  });

  it("goes on with what a killed runner has left, once that has settled", async (context) => {
    const { project, deploy, start, readResources, read, write, removeFile } =
      await prepareCompose(context);
    write("hold", "");
    const files = { "compose.json": toFile({ web: WEB }) };
    const id = await deploy(FILES, files);
    const killed = start();
    await vi.waitUntil(() => read("engine.json").includes("starting"), POLLING);
    killed.signal("SIGKILL");
    await killed.exited;
    await fixture.expireLease(id, LEASE_MS);
    expect((await project.waitForEnd(id)).status).toBe("failed");
    const { containers } = JSON.parse(read("engine.json"));
    const next = await deploy(FILES, files);
    start();
    const waits =
      /Waits until what an earlier run started has settled: \S+-web-1: running, starting\./;
    await vi.waitUntil(async () => waits.test(await fixture.log(next)), POLLING);
    removeFile("hold");
    expect(await project.waitForEnd(next)).toEqual(SUCCEEDED);
    expect(JSON.parse(read("engine.json")).containers).toEqual([
      { ...containers[0], health: "healthy" },
    ]);
    expect(toStatuses(await readResources())).toContain("web: UPDATE_COMPLETE");
  });

  it("refuses settings and files that it cannot deploy, and runs nothing for them", async (context) => {
    const { project, deploy, start, calls, read } = await prepareCompose(context);
    const mounting = (source: string) => {
      return { web: { ...WEB, volumes: [{ type: "bind", source, target: "/x" }] } };
    };
    const cases: [object, string][] = [
      [{ files: [] }, "The setting files must have at least one file."],
      [{ ...FILES, variables: { "A B": "x" } }, "must have only letters, digits and _"],
      [
        { ...FILES, variables: { DOCKER_HOST: "x" } },
        "The setting variables has DOCKER_HOST, which",
      ],
      [{ ...FILES, variables: { compose_file: "x" } }, "The setting variables has compose_file"],
      [{ ...FILES, variables: { PATH: "/x" } }, "The setting variables has PATH"],
      [{ ...FILES, variables: { LD_PRELOAD: "x" } }, "The setting variables has LD_PRELOAD"],
      [
        { files: ["compose.json", "none.json"] },
        "/stacks/first/files/1: the commit has no such file",
      ],
    ];
    const files = { "compose.json": toFile({ web: WEB }) };
    const ids: string[] = [];
    for (const [settings] of cases) ids.push(await deploy(settings, files));
    const withoutServices = await deploy(FILES, { "compose.json": toFile({}) });
    const local = await deploy(FILES, { "compose.json": toFile(mounting("./public")) });
    start();
    for (const [at, [, reason]] of cases.entries()) {
      const { status, stacks } = await project.waitForEnd(ids[at] ?? "");
      expect([status, stacks[0]]).toEqual(["failed", expect.stringContaining(reason)]);
    }
    expect((await project.waitForEnd(withoutServices)).stacks[0]).toContain("have no service");
    expect((await project.waitForEnd(local)).stacks[0]).toContain(
      "The service web uses public of the checkout, which is removed after the deployment.",
    );
    const commands = calls().filter(({ args }) => /^(up|pull|build)$/m.test(args.join("\n")));
    expect([commands, read("engine.json")]).toEqual([[], ""]);
    // A folder of the host itself is not one of the checkout.
    const remote = await deploy(FILES, { "compose.json": toFile(mounting("/")) });
    expect(await project.waitForEnd(remote)).toEqual(SUCCEEDED);
  });

  it("says what is wrong with docker on the runner's machine", async (context) => {
    const { project, deploy, start, write } = await prepareCompose(context);
    write("version", "2.19.1");
    const old = await deploy(FILES, { "compose.json": toFile({ web: WEB }) });
    start("--once");
    expect((await project.waitForEnd(old)).stacks[0]).toContain("is older than 2.20. Update it");
  });
});
