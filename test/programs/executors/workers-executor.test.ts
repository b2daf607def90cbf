import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { SETTINGS } from "../../../packages/executors/workers/src/settings.ts";
import { findVersion } from "../../../packages/executors/workers/src/version-tag.ts";
import { CloudflareApi } from "../support/cloudflare-api.ts";
import { ExecutorCheckout, type RunResult } from "../support/executor-run.ts";
import { installWrangler } from "../support/wrangler-program.ts";

const WORKER = "export default { fetch: (_, env) => new Response(`${env.GREETING} 1`) };\n";
const TOML = `name = "shop"
main = "index.js"
compatibility_date = "2026-11-01"
workers_dev = true
preview_urls = false
`;
const FILES = { "wrangler.toml": TOML, "index.js": WORKER };
const URL_OF_SHOP = "https://shop.acme.workers.dev";
const SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e";
const of = (sha: string, trigger = "api") => ({
  deployment: { trigger, source: { git: { commit: { sha } } } },
  outputs: { version_id: "of the last success" },
});
const statuses = ({ resources }: RunResult) =>
  resources.map(({ template_id, status }) => `${template_id}: ${status}`);

const environmentOf = (cloudflare: CloudflareApi) => ({
  CLOUDFLARE_API_TOKEN: cloudflare.token,
  CLOUDFLARE_ACCOUNT_ID: cloudflare.accountId,
  CLOUDFLARE_API_BASE_URL: cloudflare.url,
});

async function prepareCheckout(context: TestContext, files: Record<string, string> = FILES) {
  const cloudflare = await CloudflareApi.start();
  const checkout = new ExecutorCheckout("workers", files);
  const programs = mkdtempSync(join(tmpdir(), "longshore-wrangler-"));
  context.onTestFinished(async () => {
    await cloudflare.stop();
    checkout.remove();
    rmSync(programs, { recursive: true });
  });
  const environment = { ...environmentOf(cloudflare), PATH: installWrangler(programs) };
  type Options = Parameters<ExecutorCheckout["run"]>[0];
  const start = (options: Options = {}) => checkout.start({ environment, ...options });
  return { cloudflare, checkout, start, run: (options: Options = {}) => start(options).result };
}

describe.concurrent("the executor workers", () => {
  it("deploys the Worker, and reports it with its version, its routes and its URL", async (context) => {
    const { cloudflare, run } = await prepareCheckout(context);
    const first = await run({ settings: { variables: { GREETING: "Hello" } } });
    expect([first.status, first.reason]).toEqual([0, undefined]);
    const id = cloudflare.deployed("shop")?.id;
    expect(first.outputs).toEqual({ worker: "shop", version_id: id, url: URL_OF_SHOP });
    expect(first.resources).toEqual([
      expect.objectContaining({ template_id: "worker", status: "CREATE_IN_PROGRESS" }),
      {
        template_id: "worker",
        resource_type: "Worker",
        physical_id: "shop",
        status: "CREATE_COMPLETE",
      },
      {
        template_id: "version",
        resource_type: "WorkerVersion",
        physical_id: id,
        status: "CREATE_COMPLETE",
      },
      {
        template_id: URL_OF_SHOP,
        resource_type: "Route",
        physical_id: URL_OF_SHOP,
        status: "CREATE_COMPLETE",
      },
    ]);
    expect(await cloudflare.fetch(URL_OF_SHOP)).toBe("Hello 1");
    const again = await run(of(SHA));
    expect(statuses(again)).toEqual([
      "worker: UPDATE_IN_PROGRESS",
      "worker: UPDATE_COMPLETE",
      "version: UPDATE_COMPLETE",
      `${URL_OF_SHOP}: UPDATE_COMPLETE`,
    ]);
    expect(cloudflare.versions("shop")).toHaveLength(2);
    expect([...cloudflare.tokens]).toEqual([`Bearer ${cloudflare.token}`]);
  });

  it("passes names, variables and secrets as they are, and prints neither", async (context) => {
    const { cloudflare, run, checkout } = await prepareCheckout(context, {
      "apps/shop/wrangler.json": JSON.stringify({
        name: "shop",
        main: "index.js",
        compatibility_date: "2026-11-01",
        vars: { GREETING: "of the file", KEPT: "kept" },
        env: { live: { workers_dev: true, vars: { GREETING: "of live" } } },
      }),
      "apps/shop/index.js": WORKER,
    });
    const value = `"x":'y' $(id) \`id\` \${HOME} --dry-run\n-- 👩‍🚀`;
    const settings = {
      folder: join(checkout.folder, "apps/shop"),
      environment: "live",
      name: "shop-of-ada",
      variables: { GREETING: value, NUMBER: "1" },
      secrets: { TOKEN: `${value} canary-of-secret` },
    };
    const { status, log, outputs } = await run({ settings });
    expect([status, outputs["worker"]]).toEqual([0, "shop-of-ada"]);
    expect(cloudflare.names).toEqual(["shop-of-ada"]);
    const { bindings, types } = cloudflare.deployed("shop-of-ada") ?? {};
    expect(bindings).toEqual({ GREETING: value, NUMBER: "1", TOKEN: `${value} canary-of-secret` });
    expect(types).toEqual({ GREETING: "plain_text", NUMBER: "plain_text", TOKEN: "secret_text" });
    expect(log).not.toContain("canary-of-secret");
    expect(log).not.toContain("$(id)");
  });

  it("deploys the recorded version again in a redeployment, if nothing of it has changed", async (context) => {
    const { cloudflare, checkout, run } = await prepareCheckout(context);
    const settings = { variables: { GREETING: "Hello", A: "a" }, secrets: { TOKEN: "1" } };
    const first = await run({ ...of(SHA), settings });
    checkout.write("index.js", WORKER.replace("1", "2"));
    const other = "b".repeat(40);
    await run({ ...of(other), settings });
    expect(await cloudflare.fetch(URL_OF_SHOP)).toBe("Hello 2");

    checkout.write("index.js", "A build would fail.");
    const reordered = { ...settings, variables: { A: "a", GREETING: "Hello" } };
    const rollback = await run({ ...of(SHA, "redeployment"), settings: reordered });
    expect(rollback).toMatchObject({ status: 0, outputs: first.outputs });
    expect(statuses(rollback)).toContain(`${URL_OF_SHOP}: UPDATE_COMPLETE`);
    expect(await cloudflare.fetch(URL_OF_SHOP)).toBe("Hello 1");
    expect(cloudflare.versions("shop")).toHaveLength(2);

    // A variable or a secret has another value now, or the deployment is of another commit.
    checkout.write("index.js", WORKER.replace("1", "3"));
    for (const changed of [
      { ...of(SHA, "redeployment"), settings: { ...settings, secrets: { TOKEN: "2" } } },
      { ...of(SHA, "redeployment"), settings: { ...settings, variables: { GREETING: "Hello" } } },
      { ...of("c".repeat(40), "redeployment"), settings },
      { ...of(SHA), settings },
    ]) {
      const before = cloudflare.versions("shop").length;
      expect((await run(changed)).status).toBe(0);
      expect(cloudflare.versions("shop")).toHaveLength(before + 1);
      expect(await cloudflare.fetch(URL_OF_SHOP)).toBe("Hello 3");
    }
  });

  it("builds the commit again if Cloudflare does not deploy the recorded version", async (context) => {
    const { cloudflare, run } = await prepareCheckout(context);
    await run(of(SHA));
    let failures = 0;
    cloudflare.beforeChange = (change) => {
      if (!change.endsWith("/deployments") || failures > 0) return;
      failures += 1;
      throw new Error("Too old.");
    };
    const { status, log } = await run(of(SHA, "redeployment"));
    expect([status, failures]).toEqual([0, 1]);
    expect(log).toContain("is built again from its commit.");
    expect(cloudflare.versions("shop")).toHaveLength(2);
    expect(cloudflare.deployed("shop")?.number).toBe(2);
  });

  it("fails with the error of wrangler, and says which version Cloudflare still runs", async (context) => {
    const { cloudflare, checkout, run } = await prepareCheckout(context);
    const id = cloudflare.add("shop", { script: WORKER });
    cloudflare.beforeChange = (change) => {
      if (change.endsWith("/deployments")) throw new Error("Over quota.");
    };
    const failed = await run(of(SHA));
    expect(failed.status).toBe(1);
    expect(failed.reason).toMatch(/^wrangler deploy ended with 1: .*deployments\) failed/);
    expect(failed.log).toContain("Over quota.");
    expect(failed.resources.slice(1)).toEqual([
      expect.objectContaining({ template_id: "worker", status: "UPDATE_FAILED" }),
      expect.objectContaining({ template_id: "version", physical_id: id }),
    ]);
    expect(failed.outputs).toEqual({});

    checkout.write("index.js", "This is not JavaScript.");
    const broken = await run();
    expect(broken.reason).toContain("wrangler deploy ended with 1");
    expect(statuses(broken)[1]).toBe("worker: CREATE_FAILED");
  });

  it("stops on SIGTERM, and reports what it sees", async (context) => {
    const { cloudflare, start } = await prepareCheckout(context);
    const id = cloudflare.add("shop", { script: WORKER });
    const { started, hang } = hangAt("POST scripts/shop/versions");
    cloudflare.beforeChange = hang;
    // With wrangler as npm installs it, in two processes.
    const running = start({ ...of(SHA), environment: environmentOf(cloudflare) });
    await started;
    running.signal("SIGTERM");
    const { status, reason, resources } = await running.result;
    expect(status).toBe(1);
    expect(reason).toBe("The runner was asked to stop before wrangler had finished.");
    expect(resources.slice(1)).toEqual([
      expect.objectContaining({ status: "UPDATE_FAILED", status_reason: reason }),
      expect.objectContaining({ template_id: "version", physical_id: id }),
    ]);
  });

  it("runs again after SIGKILL at any of its changes", async (context) => {
    const { cloudflare, checkout, start, run } = await prepareCheckout(context);
    cloudflare.add("shop", { script: WORKER });
    for (const [at, change] of [
      "POST scripts/shop/versions",
      "POST scripts/shop/deployments",
      "POST scripts/shop/subdomain",
    ].entries()) {
      checkout.write("index.js", WORKER.replace("1", `of ${at}`));
      const options = { ...of(`${at}`.repeat(40)), settings: { variables: { GREETING: "Hi" } } };
      const { started, hang } = hangAt(change);
      cloudflare.beforeChange = hang;
      // With wrangler as npm installs it, in two processes.
      const killed = start({ ...options, environment: environmentOf(cloudflare) });
      await started;
      killed.signal("SIGKILL");
      expect((await killed.result).status).toBeNull();
      cloudflare.beforeChange = () => undefined;
      const { status, outputs } = await run(options);
      expect([change, status, outputs["url"]]).toEqual([change, 0, URL_OF_SHOP]);
      expect(outputs["version_id"]).toBe(cloudflare.deployed("shop")?.id);
      expect(await cloudflare.fetch(URL_OF_SHOP)).toBe(`Hi of ${at}`);
    }
  });

  it("needs a configuration of wrangler in its folder, and not in one above", async (context) => {
    const { cloudflare, checkout, run } = await prepareCheckout(context, {
      ...FILES,
      "empty/README.md": "",
    });
    const { status, reason } = await run({ settings: { folder: join(checkout.folder, "empty") } });
    expect([status, reason]).toEqual([
      1,
      "The commit has no configuration of wrangler (wrangler.json, wrangler.jsonc, wrangler.toml) in the folder of " +
        "the setting folder.",
    ]);
    const outside = mkdtempSync(join(tmpdir(), "longshore-outside-"));
    context.onTestFinished(() => rmSync(outside, { recursive: true }));
    writeFileSync(join(outside, "wrangler.json"), "{}");
    symlinkSync(join(outside, "wrangler.json"), join(checkout.folder, "empty/wrangler.json"));
    const linked = await run({ settings: { folder: join(checkout.folder, "empty") } });
    expect(linked.reason).toBe("wrangler.json leads out of the repository, through a link.");
    expect(cloudflare.tokens.size).toBe(0);
  });

  it.for<[string, string, RegExp]>([
    ["variables", "A:B", /^The setting variables has the name "A:B"\. Use letters/],
    ["variables", "A B", /^The setting variables has the name "A B"/],
    ["secrets", "1A", /^The setting secrets has the name "1A"/],
    ["secrets", "__proto__.x", /^The setting secrets has the name/],
  ])("refuses %s with the name %j", async ([setting, name, message], context) => {
    const { cloudflare, run } = await prepareCheckout(context);
    const settings = { [setting]: JSON.parse(`{${JSON.stringify(name)}: "x"}`) };
    const { status, reason } = await run({ settings });
    expect(status).toBe(1);
    expect(reason).toMatch(message);
    expect(cloudflare.tokens.size).toBe(0);
  });

  it("deploys the newest of several versions of the same again, in whichever order they are listed", () => {
    const version = (id: string, created_on: string, tag = "longshore-1") => ({
      ...{ id, metadata: { created_on }, annotations: { "workers/tag": tag } },
    });
    const versions = [
      version("old", "2026-11-01T08:00:00.1Z"),
      version("new", "2026-11-03T08:00:00.1Z"),
      version("middle", "2026-11-02T08:00:00.1Z"),
      version("other", "2026-11-04T08:00:00.1Z", "longshore-2"),
    ];
    for (const listed of [versions, versions.toReversed()])
      expect(findVersion(listed, "longshore-1")).toBe("new");
    expect(findVersion(versions, "longshore-3")).toBeUndefined();
  });

  it("has names and environments that are no options, and lead nowhere else in the API", () => {
    for (const { form } of [SETTINGS.name, SETTINGS.environment]) {
      for (const good of ["shop", "_a", "A-1.b", "9"]) expect(good).toMatch(form.pattern);
      for (const bad of [
        "--dry-run",
        "-x",
        "../x",
        ".",
        "a/b",
        "a b",
        "a?b",
        "a#b",
        "ä",
        "",
        "a\n",
      ]) {
        expect(bad).not.toMatch(form.pattern);
      }
    }
  });

  it("says that wrangler is missing on the PATH", async (context) => {
    const { checkout, cloudflare } = await prepareCheckout(context);
    const environment = { ...environmentOf(cloudflare), PATH: "/nonexistent" };
    const { status, reason, resources } = await checkout.run({ environment });
    expect(status).toBe(1);
    expect(reason).toBe("wrangler could not be started: ENOENT. Install it on the runner's PATH.");
    expect(resources.at(-1)).toMatchObject({ template_id: "worker", status: "CREATE_FAILED" });
  });
});

/** Holds the first request of that kind for good. */
function hangAt(change: string) {
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const hang = (each: string) => {
    if (each !== change) return undefined;
    resolve();
    return new Promise<never>(() => undefined);
  };
  return { started, hang };
}
