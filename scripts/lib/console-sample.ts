import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient, type Schemas } from "../../packages/client/src/index.ts";

/** A page of the console and the name of its picture. */
export interface SamplePage {
  name: string;
  /** Below the root of the console. */
  path: string;
}

const COMMIT = {
  author: { name: "Ada Lovelace" },
  committer: { name: "Ada Lovelace" },
  message: "Raise the number of replicas",
  sha: "3f1c2aa9d5e14b7f8a90b1c2d3e4f5a6b7c8d9e0",
};

const SOURCE: Schemas["DeploymentSource"] = {
  git: {
    commit: COMMIT,
    installation_id: "1",
    owner: "acme",
    provider: "github",
    ref: "main",
    repo: "storefront",
    repo_id: "2",
  },
};

const ESC = "\u001b";
const LOG = [
  `${ESC}[1mterraform apply${ESC}[0m`,
  "aws_ecs_service.web: Refreshing state... [id=web]",
  `aws_ecs_service.web: ${ESC}[33mModifying...${ESC}[0m`,
  "aws_ecs_service.web: Still modifying... [10s elapsed]",
  `aws_ecs_service.web: ${ESC}[32mModifications complete after 14s${ESC}[0m`,
  `${ESC}[32mApply complete!${ESC}[0m Resources: 0 added, 1 changed, 0 destroyed.`,
].join("\n");

/** Fills an organization, so that every page of the console has something to show. */
export async function makeSample(url: string, apiKey: string): Promise<SamplePage[]> {
  const client = createClient({ url, apiKey });
  const { organization, membership } = await client.get("/v1/whoami");
  const org = { org_id: organization.id };
  const project = await client.post("/v1/projects", {
    body: { name: "storefront", description: "The shop, and the workers behind it" },
  });
  await client.post("/v1/projects", { body: { name: "billing" } });
  const inProject = { project_id: project.id };
  await client.put("/v1/projects/{project_id}/connection", {
    path: inProject,
    body: { provider: "aws", account_id: "123456789012", region: "eu-central-1" },
  });
  const environment = await client.post("/v1/projects/{project_id}/environments", {
    path: inProject,
    body: {
      name: "staging",
      configuration: { web: { image: "shop:41", replicas: 2 }, features: ["search", "cart"] },
    },
  });
  const inEnvironment = { environment_id: environment.id };
  const component = await client.post("/v1/environments/{environment_id}/components", {
    path: inEnvironment,
    body: { name: "web", kind: "service" },
  });
  const stack = await client.post("/v1/environments/{environment_id}/stacks", {
    path: inEnvironment,
    body: { name: "web", component_id: component.id },
  });
  await client.post("/v1/environments/{environment_id}/stacks", {
    path: inEnvironment,
    body: { name: "network" },
  });
  await client.put("/v1/environments/{environment_id}/variables", {
    path: inEnvironment,
    body: {
      mode: "merge",
      variables: ["DATABASE_URL", "LOG_LEVEL", "SESSION_SECRET"].map((name) => {
        return { name, value: "sample", storage_method: "secret" };
      }),
    },
  });
  await client.put("/v1/stacks/{stack_id}/alarms/{name}", {
    path: { stack_id: stack.id, name: "high-latency" },
    body: { state: "alarm", reason: "The 99th percentile is above 800 ms." },
  });
  const webhook = await client.post("/v1/projects/{project_id}/notification-integrations", {
    path: inProject,
    body: {
      type: "webhook",
      url: "https://hooks.example.com/longshore",
      configuration: { deployments_failed: true, deployments_succeeded: true },
    },
  });
  await makeOrganizationRecords(client, org);
  const pool = await client.post("/v1/orgs/{org_id}/runner-pools", {
    path: org,
    body: { name: "eu", environment_ids: [environment.id] },
  });
  const { token } = await client.post("/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens", {
    path: { ...org, pool_id: pool.id },
    body: { name: "runner-1" },
  });
  const deployment = await deploy(client, createClient({ url, apiKey: token }), inEnvironment);
  const { data: deliveries } = await client.get(
    "/v1/projects/{project_id}/notification-integrations/{integration_id}/deliveries",
    { path: { ...inProject, integration_id: webhook.id } },
  );
  const production = await makeProtected(client, inProject, environment.id);
  await client.put("/v1/projects/{project_id}/environment-order", {
    path: inProject,
    body: {
      environment_ids: [environment.id, production.environmentId, project.default_environment_id],
    },
  });
  const at = (name: string, path: string) => ({ name, path });
  const tabs = (name: string, root: string, paths: readonly string[]) =>
    paths.map((path) => at(`${name}-${path}`, `${root}/${path}`));
  const integration = `projects/${project.id}/integrations/${webhook.id}`;
  return [
    at("projects", ""),
    at("project", `projects/${project.id}`),
    ...tabs("project", `projects/${project.id}`, [
      "insights",
      "connection",
      "variables",
      "members",
      "integrations",
      "freezes",
      "changelog",
      "settings",
    ]),
    at("environment", `environments/${environment.id}`),
    ...tabs("environment", `environments/${environment.id}`, [
      "configuration",
      "comparison",
      "components",
      "stacks",
      "variables",
      "settings",
    ]),
    at("environment-protection", `environments/${production.environmentId}/protection`),
    at("deployment-waiting", `deployments/${production.deploymentId}`),
    at("deployment-approval", `deployments/${production.deploymentId}/approve`),
    at("component-variables", `components/${component.id}/variables`),
    at("stack", `stacks/${stack.id}`),
    at("deployment", `deployments/${deployment}`),
    at("integration", integration),
    at("delivery", `${integration}/deliveries/${deliveries[0]?.id}`),
    at("runners", "runners"),
    at("runner-pool", `runners/${pool.id}`),
    at("organization", "organization"),
    ...tabs("organization", "organization", [
      "members",
      "keys",
      "service-accounts",
      "trusts",
      "freezes",
      "sessions",
      "usage",
      "audit",
    ]),
    at("organization-member", `organization/members/${membership.id}`),
  ];
}

/** An environment with rules, and a deployment there that waits for an approval. */
async function makeProtected(
  client: Client,
  path: { project_id: string },
  stagingId: string,
): Promise<{ environmentId: string; deploymentId: string }> {
  const { id } = await client.post("/v1/projects/{project_id}/environments", {
    path,
    body: { name: "live", configuration: { web: { image: "shop:41", replicas: 8 } } },
  });
  const inEnvironment = { environment_id: id };
  for (const name of ["web", "network"]) {
    await client.post("/v1/environments/{environment_id}/stacks", {
      path: inEnvironment,
      body: { name },
    });
  }
  await client.post("/v1/projects/{project_id}/freezes", {
    path,
    body: {
      name: "Black Friday",
      reason: "The busiest days of the year",
      starts_at: "2097-11-29T00:00:00Z",
      ends_at: "2097-12-02T00:00:00Z",
    },
  });
  await client.put("/v1/environments/{environment_id}/protection", {
    path: inEnvironment,
    body: {
      access: { deploy: { role: "contributor" } },
      approvals: { required: 2, approvers: { role: "owner" }, prevent_self_approval: false },
      from: { environment_ids: [stagingId], minimum_seconds: 3_600 },
      group: "production",
      exempt: ["rollback"],
    },
  });
  const deployment = await client.post("/v1/environments/{environment_id}/deployments", {
    path: inEnvironment,
    body: {
      patch: [{ op: "replace", path: "/web/image", value: "shop:42" }],
      source: SOURCE,
    },
  });
  return { environmentId: id, deploymentId: deployment.id };
}

async function makeOrganizationRecords(client: Client, path: { org_id: string }): Promise<void> {
  await client.post("/v1/orgs/{org_id}/service-accounts", {
    path,
    body: { name: "ci", role: "member" },
  });
  await client.post("/v1/orgs/{org_id}/invitations", {
    path,
    body: { email: "grace@example.com", role: "admin" },
  });
  await client.post("/v1/orgs/{org_id}/api-keys", {
    path,
    body: { name: "deploy", scopes: ["deployments:write", "environments:read"] },
  });
}

/** Runs a deployment as a runner does. Returns its ID. */
async function deploy(
  client: Client,
  runner: Client,
  path: { environment_id: string },
): Promise<string> {
  const { id } = await client.post("/v1/environments/{environment_id}/deployments", {
    path,
    body: {
      patch: [
        { op: "replace", path: "/web/image", value: "shop:42" },
        { op: "replace", path: "/web/replicas", value: 4 },
      ],
      source: SOURCE,
    },
  });
  const claim = await claimNext(runner);
  const headers = { "lease-token": claim.lease_token };
  const attempt = { attempt_id: claim.attempt_id };
  const started = { path: attempt, headers };
  await runner.post("/v1/runner/attempts/{attempt_id}/start", started);
  const [first = ""] = claim.deployment.stack_ids;
  await runner.post("/v1/runner/attempts/{attempt_id}/logs", {
    ...started,
    query: { offset: 0, stack_id: first },
    body: `${LOG}\n`,
  });
  for (const stack_id of claim.deployment.stack_ids) {
    await runner.put("/v1/runner/attempts/{attempt_id}/stacks/{stack_id}", {
      path: { ...attempt, stack_id },
      headers,
      body: {
        seq: 1,
        status: "succeeded",
        resources: [
          {
            template_id: "Service",
            physical_id: "arn:aws:ecs:eu-central-1:123456789012:service/web",
            resource_type: "AWS::ECS::Service",
            status: "UPDATE_COMPLETE",
          },
        ],
        ...(stack_id === first && {
          outputs: [{ name: "url", value: "https://staging.shop.example.com" }],
        }),
      },
    });
  }
  await runner.post("/v1/runner/attempts/{attempt_id}/complete", {
    ...started,
    body: { outcome: "succeeded" },
  });
  return id;
}

async function claimNext(runner: Client) {
  for (;;) {
    const claim = await runner.post("/v1/runner/claims", {
      body: { request_id: crypto.randomUUID() },
    });
    if (claim) return claim;
    await sleep(200);
  }
}
