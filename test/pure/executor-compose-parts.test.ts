import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, type TestContext, vi } from "vitest";
import {
  type ComposeFile,
  type ComposeService,
  readComposeFile,
  refuseLocalFiles,
  withoutBuilds,
} from "../../packages/executors/compose/src/compose-file.ts";
import type { Container, Port } from "../../packages/executors/compose/src/containers.ts";
import {
  readDocuments,
  selectNamed,
} from "../../packages/executors/compose/src/named-variables.ts";
import { reportOutputs } from "../../packages/executors/compose/src/outputs.ts";
import { waitUntilSettled } from "../../packages/executors/compose/src/settled.ts";
import {
  describeState,
  ENDS,
  endOf,
  endOfService,
  toStatus,
} from "../../packages/executors/compose/src/statuses.ts";
import { Report } from "../../packages/executors/program/src/index.ts";
import {
  parseReportLine,
  REPORTED_RESOURCE_STATUSES,
} from "../../packages/runner/src/report-lines.ts";

const WEB: Container = {
  ...{ id: "1", name: "shop-web-1", service: "web", image: "shop:1", imageId: "sha256:1" },
  ...{ state: "running", health: "", exitCode: 0, restarts: 0, configHash: "a", ports: [] },
};
const web = (changes: Partial<Container> = {}): Container => ({ ...WEB, ...changes });
const STARTING = web({ health: "starting" });
const HEALTHY = web({ health: "healthy" });
const CREATED = web({ name: "shop-db-1", service: "db", state: "created" });
const REMOVING = web({ state: "removing" });

describe("the variables that compose files name", () => {
  const select = (text: string, names: readonly string[], files: readonly string[] = []) =>
    Object.keys(
      selectNamed(Object.fromEntries(names.map((name) => [name, "x"])), readDocuments(files, text)),
    );
  const NAMES = ["A", "B", "C", "D", "AB", "web", "image"];

  it.each([
    ["{services: {web: {image: '$A:${B:-${C?none}}'}}}", ["A", "B", "C"]],
    ["{services: {web: {image: '$${A} $$B $AB'}}}", ["AB"]],
    ["{services: {web: {environment: [A, B=1, 'C=$D']}}}", ["A", "D"]],
    ["{services: {web: {environment: {A: null, B: '', C: 1}}}}", ["A"]],
    ["{services: {web: {build: {args: [A], secrets: [B]}}}}", ["A"]],
    ["{secrets: {key: {environment: A}}, configs: {b: {file: ./B}}}", ["A"]],
    ["services: {web: {image: a}} # $A and B", []],
    ["services: [", []],
    ["", []],
  ])("are those of %j", (text, expected) => {
    expect(select(text, NAMES)).toEqual(expected);
  });

  it("are also those of the files as they are written, and of their env files", (context) => {
    const folder = mkdtempSync(join(tmpdir(), "longshore-compose-"));
    context.onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "compose.yaml");
    writeFileSync(join(folder, "web.env"), "X=${A}\nB\n# $$C\nD=1\n");
    writeFileSync(join(folder, "all.env"), "X=$AB\n");
    writeFileSync(
      file,
      "services: {web: {env_file: [web.env, {path: ./all.env}, missing.env, /dev/zero, '$C']}}",
    );
    expect(select("services: {}", NAMES, [file])).toEqual(["A", "B", "C", "AB"]);
  });

  it("are refused if docker itself would read them, and left alone if no file names them", () => {
    const refused = ["COMPOSE_FILE", "DOCKER_HOST", "DOCKER_NEW", "BUILDX_CONFIG", "HTTPS_PROXY"];
    for (const name of [...refused, "https_proxy", "PATH", "TF_TOKEN_a", "LD_PRELOAD"]) {
      expect(() => select(`{services: {web: {image: "\${${name}}"}}}`, [name])).toThrow(
        `One of the files has ${name}, which changes how programs run.`,
      );
      expect(select("{services: {web: {image: a}}}", [name])).toEqual([]);
    }
    const endpoint = "{services: {web: {environment: [OTEL_EXPORTER_OTLP_ENDPOINT]}}}";
    expect(select(endpoint, ["OTEL_EXPORTER_OTLP_ENDPOINT"])).toHaveLength(1);
  });
});

describe("the wait for what an earlier run has started", () => {
  /** Reads one list after the other, and the last one for ever. Time passes only in waits. */
  async function run(
    { onTestFinished }: TestContext,
    lists: readonly Container[][],
    { timeoutMs = 60_000, stopAfterMs = Number.POSITIVE_INFINITY } = {},
  ) {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    onTestFinished(() => log.mockRestore());
    const stop = new AbortController();
    let reads = 0;
    let waitedMs = 0;
    await waitUntilSettled({
      read: async () => {
        reads += 1;
        return lists[Math.min(reads, lists.length) - 1] ?? [];
      },
      wait: async (ms) => {
        waitedMs += ms;
        if (waitedMs >= stopAfterMs) stop.abort();
      },
      stop: stop.signal,
      timeoutMs,
    });
    return { reads, waitedMs, log: log.mock.calls.flat() };
  }
  const WAITS = "Waits until what an earlier run started has settled: ";

  it("ends at once if the engine works on nothing", async (context) => {
    const nothing = { reads: 1, waitedMs: 0, log: [] };
    const exited = web({ state: "exited", exitCode: 3 });
    const restarted = web({ health: "starting", restarts: 1 });
    for (const list of [[], [web()], [HEALTHY, exited], [restarted]]) {
      expect(await run(context, [list])).toEqual(nothing);
    }
  });

  it("ends when the last health check has decided, and says for what it waits", async (context) => {
    const unhealthy = web({ health: "unhealthy" });
    const lists = [[STARTING, web()], [STARTING], [unhealthy]];
    expect(await run(context, lists)).toEqual({
      ...{ reads: 3, waitedMs: 4_000 },
      log: [`${WAITS}shop-web-1: running, starting.`],
    });
  });

  it("ends after 6 s without a change if a killed run has left containers that nothing starts", async (context) => {
    expect(await run(context, [[CREATED]])).toMatchObject({ waitedMs: 6_000 });
    // A change begins the 6 s again.
    const other = { ...CREATED, name: "shop-db-2" };
    const lists = [[CREATED], [CREATED], [CREATED], [CREATED, other]];
    expect(await run(context, lists)).toMatchObject({ waitedMs: 12_000 });
    expect(await run(context, [[CREATED], [CREATED, STARTING], [CREATED]])).toMatchObject({
      waitedMs: 10_000,
    });
  });

  it("ends at the timeout, and no earlier, while the engine still works", async (context) => {
    for (const list of [[REMOVING], [CREATED, STARTING]]) {
      const { waitedMs, log } = await run(context, [list], { timeoutMs: 20_000 });
      expect(waitedMs).toBe(20_000);
      expect(log.at(-1)).toMatch(/^It has not settled within the timeout, and is replaced: shop-/);
    }
  });

  it("ends when the runner asks to stop", async (context) => {
    const stopped = await run(context, [[REMOVING]], { stopAfterMs: 4_000 });
    expect(stopped).toEqual({ reads: 2, waitedMs: 4_000, log: [`${WAITS}shop-web-1: removing.`] });
  });
});

describe("the status of a service", () => {
  it.each<[Partial<Container>, string, string]>([
    [{ state: "created" }, "IN_PROGRESS", "created"],
    [{ state: "restarting", health: "unhealthy" }, "IN_PROGRESS", "restarting, unhealthy"],
    [{ state: "removing", health: "healthy" }, "IN_PROGRESS", "removing, healthy"],
    [{ state: "running" }, "COMPLETE", "running"],
    [{ state: "running", health: "starting" }, "IN_PROGRESS", "running, starting"],
    [{ state: "running", health: "healthy" }, "COMPLETE", "running, healthy"],
    [{ state: "running", health: "unhealthy" }, "FAILED", "running, unhealthy"],
    [{ state: "exited", exitCode: 0, health: "unhealthy" }, "COMPLETE", "exited with 0"],
    [{ state: "exited", exitCode: 3 }, "FAILED", "exited with 3"],
    [{ state: "exited", exitCode: 137, health: "healthy" }, "FAILED", "exited with 137"],
    [{ state: "paused" }, "FAILED", "paused"],
    [{ state: "dead" }, "FAILED", "dead"],
    [{ state: "a state of a later engine" }, "FAILED", "a state of a later engine"],
  ])("of a container with %o is %s", (changes, end, description) => {
    expect([endOf(web(changes)), describeState(web(changes))]).toEqual([end, description]);
  });

  it("is the worst of its containers", () => {
    const failed = web({ state: "dead" });
    expect(endOfService([])).toBe("IN_PROGRESS");
    expect(endOfService([HEALTHY, web()])).toBe("COMPLETE");
    expect(endOfService([HEALTHY, STARTING])).toBe("IN_PROGRESS");
    expect(endOfService([failed, STARTING, HEALTHY])).toBe("FAILED");
  });

  it("is one of the contract, and not in progress after a failure", () => {
    const operations = ["CREATE", "UPDATE", "UPDATE_ROLLBACK"] as const;
    const containers = [...Object.keys(ENDS).map((state) => web({ state })), STARTING, HEALTHY];
    for (const operation of operations) {
      for (const each of containers) {
        expect(REPORTED_RESOURCE_STATUSES).toContain(toStatus(operation, [each], false));
        expect(toStatus(operation, [each], true)).toMatch(/_(COMPLETE|FAILED)$/);
      }
    }
    expect(toStatus("UPDATE", [STARTING], false)).toBe("UPDATE_IN_PROGRESS");
    expect(toStatus("UPDATE", [STARTING], true)).toBe("UPDATE_FAILED");
    expect(toStatus("CREATE", [HEALTHY], true)).toBe("CREATE_COMPLETE");
    expect(toStatus("UPDATE_ROLLBACK", [], true)).toBe("UPDATE_ROLLBACK_FAILED");
  });
});

describe("the outputs of a project", () => {
  const folder = mkdtempSync(join(tmpdir(), "longshore-outputs-"));
  let reports = 0;
  afterAll(() => rmSync(folder, { recursive: true }));

  interface Given {
    services?: Record<string, ComposeService>;
    host?: string;
    url?: string;
  }

  function outputsOf(
    containers: readonly Container[],
    { services = {}, host = "localhost", url }: Given = {},
  ): Record<string, string> {
    reports += 1;
    const path = join(folder, `${reports}.jsonl`);
    reportOutputs(new Report(path), containers, { file: { services }, host, url });
    const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
    return Object.fromEntries(
      lines.map((line) => {
        const parsed = parseReportLine(Buffer.from(line));
        if (!parsed || !("output" in parsed)) throw new Error(`No output: ${line}`);
        return [parsed.output.name, parsed.output.value];
      }),
    );
  }
  const port = (target: number, published: number, changes: Partial<Port> = {}): Port => {
    return { target, published, protocol: "tcp", host: "0.0.0.0", ...changes };
  };
  /** Without the report of an empty list, there is no file. */
  const serving = (...ports: Port[]) => [web({ ports })];

  it("are the published ports, each once for IPv4 and IPv6, and a URL for the only one", () => {
    const both = serving(port(80, 8080), port(80, 8080, { host: "::" }));
    expect(outputsOf(both)).toEqual({ web_80: "localhost:8080", url: "http://localhost:8080" });
    expect(outputsOf(both, { host: "web-1.example.com" })).toEqual({
      web_80: "web-1.example.com:8080",
      url: "http://web-1.example.com:8080",
    });
    expect(outputsOf(serving(port(443, 443)))["url"]).toBe("https://localhost:443");
  });

  it("have the address to which a port is bound", () => {
    const bound = serving(
      port(80, 8080, { host: "127.0.0.1" }),
      port(80, 8080, { host: "::1" }),
      port(81, 9000, { host: "" }),
    );
    expect(outputsOf(bound)).toEqual({
      web_80: "127.0.0.1:8080",
      web_80_2: "[::1]:8080",
      web_81: "localhost:9000",
    });
  });

  it("number the ports of several containers, and name the protocol of others than TCP", () => {
    const udp = { protocol: "udp" };
    const containers = [
      web({ name: "shop-web-1", ports: [port(80, 1), port(53, 2, udp), port(53, 2)] }),
      web({ name: "shop-web-2", ports: [port(80, 3)] }),
      web({ name: "shop-db-1", service: "db", ports: [port(5432, 4)] }),
    ];
    expect(outputsOf(containers)).toEqual({
      web_80: "localhost:1",
      web_53_udp: "localhost:2",
      web_53: "localhost:2",
      web_80_2: "localhost:3",
      db_5432: "localhost:4",
    });
    expect(outputsOf(serving(port(53, 53, udp)))).toEqual({ web_53_udp: "localhost:53" });
  });

  it("have the URL of the port that the file calls HTTP, if there is one such", () => {
    const both = serving(port(8080, 1), port(9090, 2));
    const called = (...protocols: (string | undefined)[]) => {
      const ports = [8080, 9090].map((target, at) => {
        const protocol = protocols[at];
        return { target, ...(protocol !== undefined && { app_protocol: protocol }) };
      });
      return { services: { web: { ports } } };
    };
    expect(outputsOf(both, called())["url"]).toBeUndefined();
    expect(outputsOf(both, called("http", undefined))["url"]).toBe("http://localhost:1");
    expect(outputsOf(both, called("postgres", "https"))["url"]).toBe("https://localhost:2");
    expect(outputsOf(both, called("http", "https"))["url"]).toBeUndefined();
    expect(outputsOf(serving(port(8080, 1)), called("postgres"))["url"]).toBeUndefined();
  });

  it("have the URL of the setting before any other", () => {
    const url = "https://shop.example.com/";
    expect(outputsOf(serving(port(80, 1)), { url })).toEqual({ web_80: "localhost:1", url });
    expect(outputsOf([web()], { url })).toEqual({ url });
  });

  it("are as many as a stack may have, with one for the URL", () => {
    const many = serving(...Array.from({ length: 60 }, (_, at) => port(at + 1, at + 1)));
    expect(Object.keys(outputsOf(many))).toHaveLength(49);
    const all = outputsOf(many, { url: "http://localhost" });
    expect([Object.keys(all).length, all["web_49"], all["web_50"]]).toEqual([
      50,
      "localhost:49",
      undefined,
    ]);
  });
});

describe("a compose file", () => {
  const CHECKOUT = "/tmp/longshore-checkout-1";
  const check = (file: Partial<ComposeFile>) =>
    refuseLocalFiles({ services: { web: {} }, ...file }, CHECKOUT);
  const mounting = (source: string, type = "bind") => ({
    services: {
      db: {},
      web: {
        volumes: [
          { type: "volume", source: "data" },
          { type, source },
        ],
      },
    },
  });

  it("mounts nothing of the checkout, which is gone after the deployment", () => {
    for (const path of ["public", "a/../b", "..data", "public/index.html"]) {
      const source = join(CHECKOUT, path);
      const inside = source.slice(CHECKOUT.length + 1);
      expect(() => check(mounting(source))).toThrow(
        `The service web uses ${inside} of the checkout, which is removed after the deployment. Put it into an image`,
      );
    }
    expect(() => check(mounting(CHECKOUT))).toThrow("web uses the folder of the checkout");
    const file = join(CHECKOUT, "nginx.conf");
    for (const kind of ["configs", "secrets"]) {
      const given = { other: {}, site: { file } };
      expect(() => check({ [kind]: given })).toThrow("The config or secret site uses nginx.conf");
    }
  });

  it("mounts folders of the host and volumes, and has configs of its own", () => {
    for (const source of ["/", "/tmp", `${CHECKOUT}2/public`, join(CHECKOUT, ".."), "/srv/data"]) {
      expect(() => check(mounting(source))).not.toThrow();
    }
    expect(() => check(mounting(join(CHECKOUT, "public"), "volume"))).not.toThrow();
    expect(() =>
      check({ configs: { site: {} }, secrets: { key: { file: "/etc/key" } } }),
    ).not.toThrow();
  });

  it("has a service, each with the name of its image", () => {
    const services = { web: { image: "shop:1" }, job: { build: "." } };
    const read = readComposeFile(JSON.stringify({ services, name: "x" }), "longshore-7");
    expect(read.services).toEqual({
      web: { image: "shop:1" },
      job: { build: ".", image: "longshore-7-job" },
    });
    expect(withoutBuilds(read).services["job"]).toEqual({ image: "longshore-7-job" });
    for (const empty of ["{}", '{"services":{}}']) {
      expect(() => readComposeFile(empty, "longshore-7")).toThrow("have no service for these");
    }
  });
});
