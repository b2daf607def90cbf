import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { CloudFormationApi } from "./cloud-formation/api.ts";
import { ROLE } from "./cloud-formation/program.ts";
import { CloudflareApi } from "./cloudflare-api.ts";
import { configMap, deployment as deploymentOf, toManifests } from "./kubernetes/manifests.ts";
import type { ApiClient } from "./service.ts";
import { installStandIn } from "./stand-in.ts";
import { recordingOf, writeStandIn } from "./terraform/module-run.ts";
import { installWrangler } from "./wrangler-program.ts";

/** An executor whose tool or provider waits while it is held. */
export interface HeldExecutor {
  /** Of the commit that is deployed as the first one or the second one. */
  filesOf(deployment: 1 | 2): Record<string, string>;
  settings: object;
  /** Of the runner. */
  environment: NodeJS.Dict<string>;
  /** The names that the program gets, too. */
  passed: readonly string[];
  /** Connects the project to the provider. */
  connect?(client: ApiClient, projectId: string): Promise<void>;
  hold(): void;
  release(): void;
  stop(): Promise<void>;
}

/** `template_id: status` of all resources. */
interface Statuses {
  whileHeld: string[];
  atTheEnd: string[];
}

interface Row {
  start(): Promise<HeldExecutor>;
  created: Statuses;
  changed: Statuses;
}

const URL_OF_SHOP = "https://shop.acme.workers.dev";

/** By the name of the executor. */
export const HELD_EXECUTORS: Readonly<Record<string, Row>> = {
  cloudformation: {
    start: holdCloudFormation,
    created: { whileHeld: ["Site: CREATE_IN_PROGRESS"], atTheEnd: ["Site: CREATE_COMPLETE"] },
    changed: { whileHeld: ["Site: UPDATE_IN_PROGRESS"], atTheEnd: ["Site: UPDATE_COMPLETE"] },
  },
  compose: {
    start: holdCompose,
    created: {
      whileHeld: ["web: CREATE_IN_PROGRESS"],
      atTheEnd: ["network.default: UPDATE_COMPLETE", "web: CREATE_COMPLETE"],
    },
    changed: {
      whileHeld: ["network.default: UPDATE_COMPLETE", "web: UPDATE_IN_PROGRESS"],
      atTheEnd: ["network.default: UPDATE_COMPLETE", "web: UPDATE_COMPLETE"],
    },
  },
  kubernetes: {
    start: holdKubernetes,
    created: {
      whileHeld: ["configmap/page: CREATE_COMPLETE", "deployment.apps/web: CREATE_IN_PROGRESS"],
      atTheEnd: ["configmap/page: CREATE_COMPLETE", "deployment.apps/web: CREATE_COMPLETE"],
    },
    changed: {
      whileHeld: ["configmap/page: UPDATE_COMPLETE", "deployment.apps/web: UPDATE_IN_PROGRESS"],
      atTheEnd: ["configmap/page: UPDATE_COMPLETE", "deployment.apps/web: UPDATE_COMPLETE"],
    },
  },
  script: {
    start: holdScript,
    created: { whileHeld: ["site: CREATE_IN_PROGRESS"], atTheEnd: ["site: CREATE_COMPLETE"] },
    changed: { whileHeld: ["site: UPDATE_IN_PROGRESS"], atTheEnd: ["site: UPDATE_COMPLETE"] },
  },
  terraform: {
    start: holdTerraform,
    created: {
      whileHeld: ["terraform_data.page: CREATE_IN_PROGRESS"],
      atTheEnd: ["terraform_data.page: CREATE_COMPLETE"],
    },
    changed: {
      whileHeld: ["terraform_data.page: UPDATE_IN_PROGRESS"],
      atTheEnd: ["terraform_data.page: UPDATE_COMPLETE"],
    },
  },
  workers: {
    start: holdWorkers,
    created: {
      whileHeld: ["worker: CREATE_IN_PROGRESS"],
      atTheEnd: [URL_OF_SHOP, "version", "worker"].map((each) => `${each}: CREATE_COMPLETE`),
    },
    changed: {
      whileHeld: [
        ...[URL_OF_SHOP, "version"].map((each) => `${each}: CREATE_COMPLETE`),
        "worker: UPDATE_IN_PROGRESS",
      ],
      atTheEnd: [URL_OF_SHOP, "version", "worker"].map((each) => `${each}: UPDATE_COMPLETE`),
    },
  },
};

/** The tool waits while its folder has the file `hold`. */
function holdByFile(prefix: string) {
  const folder = mkdtempSync(join(tmpdir(), `longshore-${prefix}-`));
  return {
    folder,
    passed: [],
    hold: () => writeFileSync(join(folder, "hold"), ""),
    release: () => rmSync(join(folder, "hold")),
    stop: async () => rmSync(folder, { recursive: true }),
  };
}

async function holdCloudFormation(): Promise<HeldExecutor> {
  const api = await CloudFormationApi.start();
  const { account, environment } = api;
  return {
    environment,
    passed: Object.keys(environment),
    settings: { template: "site.json" },
    filesOf: (deployment) => ({
      "site.json": JSON.stringify({
        Resources: { Site: { Type: "AWS::SNS::Topic", Properties: { text: `${deployment}` } } },
      }),
    }),
    connect: async (client, projectId) => {
      const path = `/v1/projects/${projectId}/connection`;
      const { accountId: account_id, region } = account;
      await client.call("PUT", path, { provider: "aws", account_id, region, role_arn: ROLE });
      api.roles.set(ROLE, (await client.call("GET", path)).external_id);
    },
    hold: () => {
      account.stopsAtResources = true;
    },
    release: () => {
      account.stopsAtResources = false;
    },
    stop: () => api.stop(),
  };
}

async function holdCompose(): Promise<HeldExecutor> {
  const held = holdByFile("docker");
  return {
    ...held,
    environment: { PATH: installStandIn("docker", held.folder) },
    settings: { files: ["compose.json"] },
    filesOf: (deployment) => ({
      "compose.json": JSON.stringify({ services: { web: { image: `shop:${deployment}` } } }),
    }),
  };
}

async function holdKubernetes(): Promise<HeldExecutor> {
  const held = holdByFile("kubectl");
  return {
    ...held,
    environment: { PATH: installStandIn("kubectl", held.folder) },
    settings: { path: "k8s" },
    filesOf: (deployment) => ({
      "k8s/web.yaml": toManifests(
        deploymentOf("web", { image: `shop:${deployment}` }),
        configMap("page", { text: "Hello" }),
      ),
    }),
  };
}

async function holdScript(): Promise<HeldExecutor> {
  const held = holdByFile("home");
  const script = `#!/bin/sh
report() { echo '{"resource":{"template_id":"site","status":"'"$1"'"}}' >> "$LONGSHORE_REPORT_FILE"; }
report "$(cat operation)_IN_PROGRESS"
while [ -e "$HOME/hold" ]; do sleep 0.05; done
report "$(cat operation)_COMPLETE"
`;
  return {
    ...held,
    environment: { HOME: held.folder },
    settings: { path: "deploy.sh" },
    filesOf: (deployment) => ({
      "deploy.sh": script,
      operation: deployment === 1 ? "CREATE" : "UPDATE",
    }),
  };
}

async function holdTerraform(): Promise<HeldExecutor> {
  const held = holdByFile("terraform");
  const { folder } = held;
  writeStandIn(join(folder, "terraform"), recordingOf("page"), folder);
  const module = readFileSync(join(ROOT, "examples/terraform/main.tf"), "utf8");
  return {
    ...held,
    environment: { PATH: `${folder}${delimiter}${process.env["PATH"]}` },
    settings: {
      backend: { path: join(folder, "state/production.tfstate") },
      variables: { environment: "production" },
    },
    filesOf: (deployment) => ({
      "main.tf": deployment === 1 ? module : module.replace("Hello", "Ahoy"),
    }),
  };
}

async function holdWorkers(): Promise<HeldExecutor> {
  const cloudflare = await CloudflareApi.start();
  const home = mkdtempSync(join(tmpdir(), "longshore-home-"));
  let released = Promise.withResolvers<void>();
  cloudflare.beforeChange = () => released.promise;
  const account = {
    CLOUDFLARE_API_TOKEN: cloudflare.token,
    CLOUDFLARE_ACCOUNT_ID: cloudflare.accountId,
    CLOUDFLARE_API_BASE_URL: cloudflare.url,
  };
  return {
    environment: { ...account, HOME: home, PATH: installWrangler(join(home, "programs")) },
    passed: Object.keys(account),
    settings: {},
    filesOf: (deployment) => ({
      "wrangler.toml": `name = "shop"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\nworkers_dev = true\npreview_urls = false\n`,
      "index.js": `export default { fetch: () => new Response("${deployment}") };\n`,
    }),
    hold: () => {
      released = Promise.withResolvers<void>();
    },
    release: () => released.resolve(),
    stop: async () => {
      released.resolve();
      await cloudflare.stop();
      if (existsSync(home)) rmSync(home, { recursive: true });
    },
  };
}
