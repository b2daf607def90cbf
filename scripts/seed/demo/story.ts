import { type Client, createClient, type Schemas } from "../../../packages/client/src/index.ts";
import { passTime } from "./past.ts";
import { invitePerson, type Person } from "./person.ts";
import { type Run, runNext } from "./runner.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const ESC = "\u001b";
const PLAN = [
  `${ESC}[1mterraform apply${ESC}[0m`,
  "aws_ecs_service.api: Refreshing state... [id=api]",
  `aws_ecs_service.api: ${ESC}[33mModifying...${ESC}[0m`,
  "aws_ecs_service.api: Still modifying... [10s elapsed]",
];
const APPLIED = [
  ...PLAN,
  `aws_ecs_service.api: ${ESC}[32mModifications complete after 14s${ESC}[0m`,
  `${ESC}[32mApply complete!${ESC}[0m Resources: 0 added, 1 changed, 0 destroyed.`,
];
const FAILED = [
  ...PLAN,
  "aws_ecs_service.api: Still modifying... [20s elapsed]",
  `${ESC}[31mError: the service did not become stable${ESC}[0m`,
  "  with aws_ecs_service.api, on services.tf line 14:",
  "  2 of 4 tasks stopped: essential container exited (exit code 1)",
];

/** First lines of commits, the oldest first. */
const COMMITS = [
  "Add gift cards to the cart",
  "Cache product pages for a minute",
  "Show delivery dates at checkout",
  "Fix the rounding of discounts",
  "Search by color",
  "Retry payments",
  "Retry payments only once",
  "Raise the number of replicas",
];

export interface Demo {
  organizationId: string;
  ownerId: string;
  project: Schemas["Project"];
  environments: Readonly<Record<"staging" | "eu" | "us", string>>;
  stackId: string;
  componentId: string;
  poolId: string;
  integrationId: string;
  /** Of the three deployments that people look at. */
  deployments: Readonly<Record<"succeeded" | "failed" | "waiting", string>>;
}

/**
 * Fills an organization with the story of a shop: three people, three environments, twenty deployments in
 * five days, a failure with its rollback, an alarm, an approval that is open, and a freeze that is planned.
 */
export async function tellStory(d1: D1Database, url: string, apiKey: string): Promise<Demo> {
  const owner = createClient({ url, apiKey });
  const { organization, membership } = await owner.get("/v1/whoami");
  const org = { org_id: organization.id };
  const invite = (name: string, email: string, role: Schemas["OrgRole"]) =>
    invitePerson(url, owner, organization.id, { name, email, role });
  const ada = await invite("Ada Lovelace", "ada@example.com", "admin");
  const grace = await invite("Grace Hopper", "grace@example.com", "member");
  await inviteOthers(owner, org);

  const shop = await Shop.open({ url, owner, org, d1, grace });
  const pass = (ms: number) => passTime(d1, organization.id, ms);
  for (const commit of [0, 1, 2, 3]) {
    const tested = await shop.deploy(grace, "staging", commit, { takes: 48 + commit * 3 });
    await pass(HOUR_MS);
    await shop.promote(ada, tested, "eu", { takes: 71 + commit * 5 });
    await pass(DAY_MS);
  }
  const us = await shop.deploy(grace, "us", 3, { takes: 95 });
  const fifth = await shop.deploy(grace, "staging", 4, { takes: 55 });
  const succeeded = await shop.promote(ada, fifth, "eu", { takes: 83 });
  await pass(5 * HOUR_MS);
  const broken = await shop.deploy(grace, "staging", 5, { takes: 61 });
  const failed = await shop.promote(ada, broken, "eu", {
    takes: 142,
    log: FAILED,
    failure: "The service did not become stable: 2 of 4 tasks stopped.",
  });
  await shop.redeploy(ada, succeeded, "eu", { takes: 64 });
  await pass(3 * HOUR_MS);
  await shop.deploy(grace, "staging", 6, { takes: 57 });
  await shop.redeploy(ada, us, "us", { takes: 88 });
  await buildOthers({ url, owner, org, d1, grace });
  await pass(40 * 60_000);
  const newest = await shop.deploy(grace, "staging", 7, { takes: 59 });
  await owner.put("/v1/stacks/{stack_id}/alarms/{name}", {
    path: { stack_id: shop.stackId, name: "high-latency" },
    body: { state: "alarm", reason: "The 99th percentile is above 800 ms." },
  });
  await shop.protectProduction(org);
  const waiting = await grace.client.post("/v1/deployments/{deployment_id}/promote", {
    path: { deployment_id: newest },
    body: { environment_id: shop.environments.eu },
  });
  return {
    organizationId: organization.id,
    ownerId: membership.id,
    project: shop.project,
    environments: shop.environments,
    stackId: shop.stackId,
    componentId: shop.componentId,
    poolId: shop.poolId,
    integrationId: shop.integrationId,
    deployments: { succeeded, failed, waiting: waiting.id },
  };
}

async function inviteOthers(owner: Client, path: { org_id: string }): Promise<void> {
  await owner.post("/v1/orgs/{org_id}/invitations", {
    path,
    body: { email: "katherine@example.com", role: "member" },
  });
  await owner.post("/v1/orgs/{org_id}/service-accounts", {
    path,
    body: { name: "ci", role: "member" },
  });
  await owner.post("/v1/orgs/{org_id}/api-keys", {
    path,
    body: { name: "deploy", scopes: ["deployments:write", "environments:read"] },
  });
}

interface ShopOptions {
  url: string;
  owner: Client;
  org: { org_id: string };
  d1: D1Database;
  /** Who owns nothing, and contributes. */
  grace: Person;
}

/** The project of the story, with a runner for each environment. */
class Shop {
  readonly #d1: D1Database;
  readonly #owner: Client;
  readonly #runner: Client;
  readonly project: Schemas["Project"];
  readonly environments: Demo["environments"];
  readonly stackId: string;
  readonly componentId: string;
  readonly poolId: string;
  readonly integrationId: string;

  private constructor(
    { d1, owner }: ShopOptions,
    runner: Client,
    made: Pick<
      Shop,
      "project" | "environments" | "stackId" | "componentId" | "poolId" | "integrationId"
    >,
  ) {
    this.#d1 = d1;
    this.#owner = owner;
    this.#runner = runner;
    this.project = made.project;
    this.environments = made.environments;
    this.stackId = made.stackId;
    this.componentId = made.componentId;
    this.poolId = made.poolId;
    this.integrationId = made.integrationId;
  }

  static async open(options: ShopOptions): Promise<Shop> {
    const { owner, grace } = options;
    const project = await owner.post("/v1/projects", {
      body: {
        name: "storefront",
        description: "The shop, and the workers behind it",
      },
    });
    const path = { project_id: project.id };
    await owner.post("/v1/projects/{project_id}/members", {
      path,
      body: { member_ids: [grace.membershipId], role: "contributor" },
    });
    await owner.put("/v1/projects/{project_id}/connection", {
      path,
      body: { provider: "aws", account_id: "123456789012", region: "eu-central-1" },
    });
    const integration = await owner.post("/v1/projects/{project_id}/notification-integrations", {
      path,
      body: {
        type: "webhook",
        url: "https://hooks.example.com/longshore",
        configuration: { deployments_failed: true, deployments_succeeded: true },
      },
    });
    const environments = {
      staging: await addEnvironment(owner, project.id, "staging", 2),
      eu: project.default_environment_id,
      us: await addEnvironment(owner, project.id, "production-us", 4),
    };
    const { staging, eu, us } = environments;
    await setUp(owner, eu, "production-eu", 4);
    await owner.put("/v1/projects/{project_id}/environment-order", {
      path,
      body: { environment_ids: [staging, eu, us] },
    });
    const component = await owner.post("/v1/environments/{environment_id}/components", {
      path: { environment_id: staging },
      body: { name: "api", kind: "service" },
    });
    const stacks = [];
    for (const environment_id of [staging, eu, us]) {
      for (const name of ["network", "api"]) {
        const component_id =
          environment_id === staging && name === "api" ? component.id : undefined;
        stacks.push(
          await owner.post("/v1/environments/{environment_id}/stacks", {
            path: { environment_id },
            body: { name, ...(component_id && { component_id }) },
          }),
        );
      }
    }
    const { runner, poolId } = await addRunner(options, "eu", [staging, eu, us]);
    return new Shop(options, runner, {
      project,
      environments,
      stackId: stacks[1]?.id ?? "",
      componentId: component.id,
      poolId,
      integrationId: integration.id,
    });
  }

  async deploy(
    { client }: Person,
    to: keyof Demo["environments"],
    commit: number,
    run: Partial<Run>,
  ): Promise<string> {
    const { id } = await client.post("/v1/environments/{environment_id}/deployments", {
      path: { environment_id: this.environments[to] },
      body: {
        source: sourceOf(commit),
        patch: [{ op: "replace", path: "/api/image", value: `storefront:${40 + commit}` }],
      },
    });
    await this.#run(to, run);
    return id;
  }

  async promote(
    { client }: Person,
    deployment_id: string,
    to: keyof Demo["environments"],
    run: Partial<Run>,
  ): Promise<string> {
    const { id } = await client.post("/v1/deployments/{deployment_id}/promote", {
      path: { deployment_id },
      body: { environment_id: this.environments[to] },
    });
    await this.#run(to, run);
    return id;
  }

  async redeploy(
    { client }: Person,
    deployment_id: string,
    to: keyof Demo["environments"],
    run: Partial<Run>,
  ): Promise<void> {
    await client.post("/v1/deployments/{deployment_id}/redeploy", { path: { deployment_id } });
    await this.#run(to, run);
  }

  #run(environment: keyof Demo["environments"], run: Partial<Run>): Promise<void> {
    const url = `https://${environment}.shop.example.com`;
    return runNext(this.#runner, this.#d1, {
      takes: 60,
      log: APPLIED,
      outputs: [{ name: "url", value: url }],
      ...run,
    });
  }

  /** Rules for the first production environment, and a freeze that is planned. */
  async protectProduction(path: { org_id: string }): Promise<void> {
    await this.#owner.put("/v1/environments/{environment_id}/protection", {
      path: { environment_id: this.environments.eu },
      body: {
        access: { deploy: { role: "contributor" } },
        approvals: { required: 1, approvers: { role: "owner" } },
        from: { environment_ids: [this.environments.staging] },
        group: "production",
        exempt: ["rollback"],
      },
    });
    const starts = Date.now() + 12 * DAY_MS;
    await this.#owner.post("/v1/orgs/{org_id}/freezes", {
      path,
      body: {
        name: "Black Friday",
        reason: "The busiest days of the year",
        starts_at: new Date(starts).toISOString(),
        ends_at: new Date(starts + 3 * DAY_MS).toISOString(),
      },
    });
  }
}

/** A project whose last deployment failed, and one that was never deployed. */
async function buildOthers(options: ShopOptions): Promise<void> {
  const { owner, d1 } = options;
  const { default_environment_id: environment_id } = await owner.post("/v1/projects", {
    body: { name: "billing", description: "Invoices and payments" },
  });
  const path = { environment_id };
  await owner.post("/v1/environments/{environment_id}/stacks", { path, body: { name: "worker" } });
  const { runner } = await addRunner(options, "billing", [environment_id]);
  for (const failure of [undefined, "The image billing:18 does not exist."]) {
    await owner.post("/v1/environments/{environment_id}/deployments", {
      path,
      body: { source: { registry: { image: `ghcr.io/acme/billing:${failure ? 18 : 17}` } } },
    });
    await runNext(runner, d1, {
      takes: 33,
      log: failure ? FAILED : APPLIED,
      ...(failure && { failure }),
    });
  }
  await owner.post("/v1/projects", { body: { name: "search" } });
}

async function addRunner(
  { url, owner, org }: ShopOptions,
  name: string,
  environment_ids: string[],
): Promise<{ runner: Client; poolId: string }> {
  const pool = await owner.post("/v1/orgs/{org_id}/runner-pools", {
    path: org,
    body: { name, environment_ids },
  });
  const { token } = await owner.post("/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens", {
    path: { ...org, pool_id: pool.id },
    body: { name: `${name}-1` },
  });
  return { runner: createClient({ url, apiKey: token }), poolId: pool.id };
}

async function addEnvironment(
  owner: Client,
  project_id: string,
  name: string,
  replicas: number,
): Promise<string> {
  const { id } = await owner.post("/v1/projects/{project_id}/environments", {
    path: { project_id },
    body: { name },
  });
  await setUp(owner, id, name, replicas);
  return id;
}

/** Gives an environment its name, its configuration and its variables. */
async function setUp(
  owner: Client,
  environment_id: string,
  name: string,
  replicas: number,
): Promise<void> {
  const path = { environment_id };
  await owner.put("/v1/environments/{environment_id}", {
    path,
    body: { name, configuration: { api: { image: "storefront:39", replicas } } },
  });
  await owner.put("/v1/environments/{environment_id}/variables", {
    path,
    body: {
      mode: "merge",
      variables: ["DATABASE_URL", "LOG_LEVEL", "SESSION_SECRET"].map((name) => {
        return { name, value: "sample", storage_method: "secret" };
      }),
    },
  });
}

function sourceOf(commit: number): Schemas["DeploymentSource"] {
  const author = { name: commit % 3 === 0 ? "Ada Lovelace" : "Grace Hopper" };
  return {
    git: {
      commit: {
        author,
        committer: author,
        message: COMMITS[commit] ?? "",
        sha: (0x3f1c2aa9 + commit * 0x1abcdef1)
          .toString(16)
          .padStart(8, "7")
          .repeat(5)
          .slice(0, 40),
      },
      installation_id: "1",
      owner: "acme",
      provider: "github",
      ref: "refs/heads/main",
      repo: "storefront",
      repo_id: "2",
    },
  };
}
