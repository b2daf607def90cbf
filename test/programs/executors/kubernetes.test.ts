import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it, type TestContext } from "vitest";
import { OFFLINE, prepareManifests } from "../../../packages/executors/kubernetes/src/manifests.ts";
import { configMap, deployment, service, toManifests } from "../support/kubernetes/manifests.ts";
import { KubernetesRun } from "../support/kubernetes/program-run.ts";

const WEB = toManifests(deployment("web", { image: "shop:1" }));

function prepare(context: TestContext, files: Record<string, string> = {}): KubernetesRun {
  const run = new KubernetesRun(files);
  context.onTestFinished(() => run.remove());
  return run;
}

const kubeconfig = (user: object, cluster: object = {}) =>
  JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "eu", preferences: {} },
    clusters: [{ name: "eu", cluster: { server: "https://eu.example.com", ...cluster } }],
    users: [{ name: "deploy", user }],
    contexts: [{ name: "eu", context: { cluster: "eu", user: "deploy", namespace: "shop" } }],
  });

describe.concurrent("the kubeconfig of the settings", () => {
  it("is a private file of the run, and has its context and namespace", async (context) => {
    const run = prepare(context, { "k8s/web.yaml": WEB });
    const text = kubeconfig({ token: "secret" }, { "certificate-authority-data": "Q0E=" });
    expect((await run.run({ kubeconfig: text })).status).toBe(0);
    const { preferences: _, ...written } = JSON.parse(text);
    expect(JSON.parse(run.read("kubeconfig.json"))).toEqual(written);
    const requests = run.calls.filter(([command]) => command !== "version");
    expect(requests.length).toBeGreaterThan(5);
    for (const args of requests) {
      expect(args).toEqual(
        expect.arrayContaining([
          ...["--context=eu", "--namespace=shop", expect.stringMatching(/^--kubeconfig=\//)],
        ]),
      );
      expect(args.join(" ")).not.toContain("secret");
    }
  });

  it("names no program, no file and no other host than the cluster", async (context) => {
    const run = prepare(context, { "k8s/web.yaml": WEB });
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "touch", args: ["x"] };
    const cases: [string, string][] = [
      [kubeconfig({ exec }), "has other users than a kubeconfig"],
      [kubeconfig({ exec: "touch x" }), "has a user with a member that only the operator"],
      [kubeconfig({ "auth-provider": "gcp" }), "has a user with a member that only"],
      [kubeconfig({ tokenFile: "/etc/passwd" }), "has a user with a member that only"],
      [kubeconfig({ "client-key": "/etc/passwd" }), "has a user with a member that only"],
      [kubeconfig({}, { "certificate-authority": "/x" }), "has a cluster with a member that only"],
      [kubeconfig({}, { "proxy-url": "http://x" }), "has a cluster with a member that only"],
      [
        kubeconfig({}, { server: "http://eu.example.com" }),
        "has a cluster whose server is not https",
      ],
      ["apiVersion: v1", "must be JSON"],
      ["[]", "has other objects than a kubeconfig"],
      ['{"clusters":{}}', "has other clusters than a kubeconfig"],
      ['{"users":[{"user":{}}]}', "has other users than a kubeconfig"],
      [
        kubeconfig({}).replace('"eu","preferences"', '"other","preferences"'),
        "has no such context",
      ],
      ["{}", "has no such context"],
      ["x".repeat(1_048_576), "must be JSON"],
    ];
    for (const [text, reason] of cases) {
      const result = await run.run({ kubeconfig: text });
      expect([result.status, result.reason]).toEqual([1, expect.stringContaining(reason)]);
    }
    expect(new Set(run.calls.map(([command]) => command))).toEqual(new Set(["version"]));
  });
});

describe.concurrent("the place of a deployment", () => {
  it("is the context and the namespace of kubectl by default, and any that it has", async (context) => {
    const run = prepare(context, { "k8s/web.yaml": WEB });
    expect((await run.run()).log).toContain("to the namespace shop of test.");
    run.setFile("cluster.json", JSON.stringify({ namespaces: ["default"], objects: {}, sets: {} }));
    expect((await run.run({ context: "staging" })).log).toContain(
      "to the namespace default of staging.",
    );
    const unknown = await run.run({ context: "--help" });
    expect(unknown.reason).toBe(
      "The configuration of the runner's kubectl has no such context. Name another one.",
    );
  });

  it("needs a kubectl that knows apply sets as they are now", async (context) => {
    const run = prepare(context, { "k8s/web.yaml": WEB });
    run.setFile("version", "28+");
    expect((await run.run()).reason).toBe(
      "kubectl is older than 1.29. Update it on the runner's machine.",
    );
    run.setFile("version", "29+");
    expect((await run.run()).status).toBe(0);
  });
});

describe.concurrent("manifests", () => {
  it("are the files of the folder itself, or one file", async (context) => {
    const run = prepare(context, {
      "k8s/b.yml": toManifests(configMap("b", { x: "1" })),
      "k8s/a.json": JSON.stringify(configMap("a", { x: "1" })),
      "k8s/README.md": "# Not a manifest",
      "k8s/below/c.yaml": toManifests(configMap("c", { x: "1" })),
    });
    expect((await run.run()).status).toBe(0);
    expect(run.objects).toEqual(["configmap/a", "configmap/b"]);
    expect((await run.run({ path: join(run.checkout.folder, "k8s/below/c.yaml") })).status).toBe(0);
    expect(run.objects).toEqual(["configmap/c"]);
    const empty = await run.run({ path: run.checkout.folder });
    expect(empty.reason).toBe(
      "The folder of the setting path has no files that end with .json, .yaml, .yml.",
    );
  });

  it("get the images of the settings", async (context) => {
    const digest = `sha256:${"0".repeat(64)}`;
    const run = prepare(context, {
      "k8s/a.yaml": toManifests(
        deployment("a", { image: "shop" }),
        deployment("b", { image: "db:1" }),
      ),
    });
    const images = { shop: "registry.example.com:5000/acme/shop:7", db: `acme/db:2@${digest}` };
    expect((await run.run({ images })).status).toBe(0);
    expect(run.manifestOf("deployment.apps/a")).toContain(
      '"image":"registry.example.com:5000/acme/shop:7"',
    );
    expect(run.manifestOf("deployment.apps/b")).toContain(`"image":"acme/db@${digest}"`);
  });

  it("are rendered by kustomize where there is a kustomization, with those that it names", async (context) => {
    const run = prepare(context, {
      "base/kustomization.yaml": "resources: [web.yaml]\n",
      "base/web.yaml": WEB,
      "k8s/kustomization.yml": "resources:\n  - ../base\n  - map.yaml\n",
      "k8s/map.yaml": toManifests(configMap("map", { url: "https://example.com" })),
      "k8s/unused.yaml": toManifests(configMap("unused", {})),
    });
    expect((await run.run({ images: { shop: "shop:2" } })).status).toBe(0);
    expect(run.objects).toEqual(["configmap/map", "deployment.apps/web"]);
    expect(run.manifestOf("deployment.apps/web")).toContain("shop:2");
  });

  it("come from no URL, and from no file outside of the checkout", async (context) => {
    const run = prepare(context, {
      "k8s/web.yaml": WEB,
      "plugin.yaml": "kind: PatchTransformer\npath: http://127.0.0.1/x\n",
    });
    const outside = mkdtempSync(join(tmpdir(), "longshore-outside-"));
    context.onTestFinished(() => rmSync(outside, { recursive: true }));
    writeFileSync(join(outside, "kustomization.yaml"), "resources: []\n");
    writeFileSync(join(outside, "secret.yaml"), WEB);
    const inFolder = (name: string) => join(run.checkout.folder, "k8s", name);
    symlinkSync(outside, inFolder("link"));
    symlinkSync(join(outside, "secret.yaml"), inFolder("secret.txt"));
    const cases: [string, string][] = [
      ["resources: [https://example.com/web.yaml]", "resources"],
      ["resources: ['github.com/acme/shop//k8s?ref=v1']", "resources"],
      ["resources: ['git::ssh://git@example.com/shop']", "resources"],
      ["resources: ['file:///srv/git/shop']", "resources"],
      ["bases: ['https://example.com/x']", "bases"],
      ["components: ['https://example.com/x']", "components"],
      ["crds: ['https://example.com/x']", "crds"],
      ["patches: [{path: 'http://127.0.0.1/x'}]", "patches"],
      ["patchesStrategicMerge: ['http://127.0.0.1/x']", "patchesStrategicMerge"],
      ["replacements: [{path: 'http://127.0.0.1/x'}]", "replacements"],
      ["configMapGenerator: [{name: a, files: ['b=http://127.0.0.1/x']}]", "configMapGenerator"],
      ["secretGenerator: [{name: a, envs: ['http://127.0.0.1/x']}]", "secretGenerator"],
      ["openapi: {path: 'http://127.0.0.1/x'}", "openapi"],
      ["transformers: [../plugin.yaml]", "transformers"],
      [
        "generators: ['kind: PatchTransformer\\npath: http://127.0.0.1/x']".replaceAll("'", '"'),
        "generators",
      ],
      [`resources: ['${outside}']`, "resources"],
      ["resources: [link]", "resources"],
      ["resources: [secret.txt]", "resources"],
      ["resources: [../../../../../../etc]", "resources"],
      ["resources: ['--help']", "resources"],
    ];
    for (const [kustomization, member] of cases) {
      // One that is named by another is read, too.
      run.checkout.write(
        "k8s/below/kustomization.yaml",
        kustomization.replace("../plugin", "../../plugin"),
      );
      for (const text of [kustomization, "resources: [below]"]) {
        run.checkout.write("k8s/kustomization.yaml", text.replace("[link]", "[link]"));
        const { status, reason = "" } = await run.run();
        expect([kustomization, status, reason]).toEqual([
          ...[kustomization, 1],
          expect.stringMatching(
            new RegExp(
              `^${member} of k8s/(below/)?kustomization\\.yaml has an entry that is no file or folder`,
            ),
          ),
        ]);
      }
    }
    for (const text of ["{", "- a", "x".repeat(1_048_577)]) {
      run.checkout.write("k8s/kustomization.yaml", text);
      expect((await run.run()).reason).toBe("k8s/kustomization.yaml is no kustomization.");
    }
    rmSync(inFolder("kustomization.yaml"));
    symlinkSync(join(outside, "secret.yaml"), inFolder("z.yaml"));
    expect((await run.run()).reason).toBe("z.yaml leads out of the repository, through a link.");
    expect(new Set(run.calls.map(([command]) => command))).toEqual(new Set(["version", "config"]));
  });
});

describe.concurrent("the outputs", () => {
  const ingress = (name: string, spec: object) => ({
    ...{ apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata: { name }, spec },
  });

  it("are the hosts of ingresses, the ports of load balancers, and what the settings name", async (context) => {
    const run = prepare(context);
    run.write(
      toManifests(
        service("web"),
        ingress("shop", {
          rules: [
            { host: "shop.example.com" },
            { host: "www.example.com" },
            { host: "*.example.com" },
            {},
          ],
          tls: [{ hosts: ["shop.example.com"] }],
        }),
        configMap("settings", { "log/level": "info", "a~1b": "tilde" }),
      ),
    );
    const outputs = {
      level: "configmap/settings#/data/log~1level",
      tilde: "configmap/settings#/data/a~01b",
      none: "service/web#/spec/none",
    };
    const { outputs: found, log } = await run.run({ outputs });
    expect(found).toEqual({
      level: "info",
      tilde: "tilde",
      shop: "https://shop.example.com",
      shop_2: "http://www.example.com",
      web_80: "192.0.2.7:80",
    });
    expect(log).toContain("The output none is not reported: service/web has no text there.");
    expect((await run.run({ url: "https://example.com" })).outputs["url"]).toBe(
      "https://example.com",
    );
    run.write(
      toManifests(service("web"), ingress("shop", { rules: [{ host: "shop.example.com" }] })),
    );
    expect((await run.run()).outputs["url"]).toBe("http://shop.example.com");
    run.write(toManifests(service("web"), service("api")));
    expect((await run.run()).outputs).toEqual({ web_80: "192.0.2.7:80", api_80: "192.0.2.7:80" });
  });
});

describe("the real kubectl", () => {
  const folder = mkdtempSync(join(tmpdir(), "longshore-real-kubectl-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const run = (args: readonly string[], environment: NodeJS.Dict<string> = {}) =>
    spawnSync("kubectl", args, {
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        ...environment,
      } as object as NodeJS.ProcessEnv,
    });
  const { status, stdout = "" } = run(["version", "--client", "--output=json"]);
  const minor = status === 0 ? Number.parseInt(JSON.parse(stdout).clientVersion.minor, 10) : 0;
  const reason = minor < 29 ? "kubectl 1.29 or newer is not on the PATH" : "";

  it("accepts every command of the executor", async (context) => {
    if (reason !== "") return context.skip(reason);
    const standIn = prepare(context, {
      "k8s/web.yaml": toManifests(deployment("web", { image: "shop:crashes" })),
    });
    await standIn.run({
      namespace: "new",
      create_namespace: true,
      force_conflicts: true,
      timeout: "6s",
    });
    await standIn.run({ timeout: "6s" });
    const calls = new Map(standIn.calls.map((args) => [args.slice(0, 2).join(" "), args]));
    const commands = [...calls.values()].filter(
      ([command = ""]) => !/^(version|config|kustomize)$/.test(command),
    );
    expect(new Set(commands.map(([command]) => command))).toEqual(
      new Set(["get", "create", "diff", "apply", "annotate", "rollout", "logs"]),
    );
    // Nothing listens there, so what is refused is the connection alone.
    const file = join(folder, "web.yaml");
    writeFileSync(file, WEB);
    const kubeconfigFile = join(folder, "kubeconfig.json");
    writeFileSync(kubeconfigFile, kubeconfig({ token: "x" }, { server: "https://127.0.0.1:9" }));
    for (const args of commands) {
      const given = args
        .filter((each) => !each.startsWith("--context="))
        .map((each) => (each.startsWith("--filename=") ? `--filename=${file}` : each));
      const result = run([...given, `--kubeconfig=${kubeconfigFile}`], {
        KUBECTL_APPLYSET: "true",
      });
      expect([args, result.stderr]).toEqual([args, expect.stringMatching(/127\.0\.0\.1:9/)]);
      expect([args, result.stderr]).not.toEqual([
        args,
        expect.stringMatching(/unknown flag|unknown command|usage/i),
      ]);
    }
  });

  it("renders kustomizations, and the images of the settings", async (context) => {
    if (reason !== "") return context.skip(reason);
    const checkout = join(folder, "checkout");
    const write = (name: string, text: string) => {
      mkdirSync(join(checkout, dirname(name)), { recursive: true });
      writeFileSync(join(checkout, name), text);
    };
    write("k8s/a.json", JSON.stringify(deployment("web", { image: "shop" })));
    write(
      "k8s/b.yaml",
      `${toManifests(configMap("mode", { mode: "0644" }))}---\n${WEB}`.replace(
        "name: web",
        "name: other",
      ),
    );
    write("overlay/kustomization.yaml", "namePrefix: eu-\nresources: [../base]\n");
    write("base/kustomization.yaml", "resources: [web.yaml]\n");
    write("base/web.yaml", WEB);
    const render = async (path: string, images: Record<string, string>) => {
      const files = mkdtempSync(join(folder, "files-"));
      const given = {
        path: join(checkout, path),
        checkout,
        images,
        folder: join(files, "manifests"),
      };
      const [file = "", ...others] = await prepareManifests(given);
      expect(others).toEqual([]);
      return readFileSync(file, "utf8");
    };
    const plain = await render("k8s", { shop: "acme/shop:7" });
    expect([...plain.matchAll(/image: (.*)/g)].map(([, image]) => image)).toEqual([
      "acme/shop:7",
      "acme/shop:7",
    ]);
    expect(plain).toContain('mode: "0644"');
    expect(await render("overlay", {})).toMatch(/name: eu-web/);
    expect(await render("overlay", { shop: "shop:2" })).toContain("image: shop:2");
  });

  it("fetches nothing while it renders", (context) => {
    if (reason !== "") return context.skip(reason);
    for (const url of ["https://example.com/acme/shop", "file:///srv/git/shop"]) {
      const remote = mkdtempSync(join(folder, "remote-"));
      writeFileSync(join(remote, "kustomization.yaml"), JSON.stringify({ resources: [url] }));
      const { status: code, stderr } = run(["kustomize", remote], OFFLINE);
      expect([url, code === 0]).toEqual([url, false]);
      expect(stderr).toContain(`transport '${new URL(url).protocol.slice(0, -1)}' not allowed`);
      if (url.startsWith("https")) expect(stderr).toContain("proxyconnect tcp");
    }
  });
});
