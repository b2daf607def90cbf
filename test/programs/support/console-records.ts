import { DeployedEnvironment } from "./deployed-environment.ts";
import type { Service } from "./service.ts";

/** Text that would do harm if it were HTML, or if it reordered what is around it. */
export const HOSTILE = `"><img src=x onerror="window.harmed=1"><script>window.harmed=1</script>\u202Egnp.\u202C`;

/** The same as a name, which has no hidden characters. Its letters are from right to left, and it ends with a digit. */
const HOSTILE_NAME = '"><img src=x onerror="window.harmed=1">שלום 1';

/** The paths of all pages of the console, below its root, with two of everything that they show. */
export async function makeConsoleRecords(service: Service) {
  const { owner, organizationId } = service;
  const organization = `/v1/orgs/${organizationId}`;
  const environment = await DeployedEnvironment.make(service, {
    web: { image: HOSTILE, replicas: 2 },
    list: [1, HOSTILE],
  });
  const { id, projectId } = environment;
  const post = (path: string, body: object) => owner.call("POST", path, body);
  await owner.call("PATCH", `/v1/projects/${projectId}`, {
    name: HOSTILE_NAME,
    description: HOSTILE,
  });
  const [component] = await Promise.all([
    post(`/v1/environments/${id}/components`, { name: "api", kind: "service" }),
    post(`/v1/environments/${id}/components`, { name: "worker", kind: "worker" }),
    post(`/v1/projects`, { name: "an empty project" }),
    post(`${organization}/service-accounts`, { name: HOSTILE_NAME, role: "member" }),
    post(`${organization}/invitations`, { email: "grace@example.com", role: "admin" }),
    post(`${organization}/api-keys`, {
      name: HOSTILE_NAME,
      scopes: ["projects:read", "keys:write"],
    }),
  ]);
  for (const [name, value] of Object.entries({ DATABASE_URL: HOSTILE, KUBECONFIG: "debug" })) {
    await post(`/v1/environments/${id}/variables`, { name, value, storage_method: "secret" });
    await post(`/v1/components/${component.id}/variables`, {
      name,
      value,
      storage_method: "string",
    });
  }
  const webhook = await post(`/v1/projects/${projectId}/notification-integrations`, {
    type: "webhook",
    url: "https://hooks.example.com/path",
    configuration: { deployments_failed: true },
  });
  const { membership } = await owner.call("GET", "/v1/whoami");
  const { data: pools } = await owner.call("GET", `${organization}/runner-pools`);
  await deployWithOutputs(environment);
  const deploymentId = await deployWithHostileText(environment);
  const queued = await environment.deploy({ patch: [{ op: "add", path: "/web/port", value: 80 }] });
  const { data: stacks } = await owner.call("GET", `/v1/environments/${id}/stacks`);
  await owner.call("PUT", `/v1/stacks/${stacks[0].id}/alarms/${encodeURIComponent(HOSTILE_NAME)}`, {
    state: "alarm",
    reason: HOSTILE,
  });
  const guarded = await makeProtectedRecords(owner, projectId);
  const rules = "environment.protection_changed";
  const { data: acts } = await owner.call("GET", `${organization}/audit-log?action=${rules}`);
  const [protectedChange] = acts;
  const integrations = `/v1/projects/${projectId}/notification-integrations/${webhook.id}`;
  const ping = await post(`${integrations}/ping`, {});
  const withTabs = (root: string, tabs: string) => tabs.split(" ").map((tab) => `${root}/${tab}`);
  return {
    environment,
    deploymentId,
    queuedId: queued.id,
    paths: [
      "",
      `projects/${projectId}`,
      ...withTabs(
        `projects/${projectId}`,
        "activity insights connection variables members integrations freezes settings",
      ),
      // With the details of an act.
      `projects/${projectId}/activity?security=yes&entry=${protectedChange.id}`,
      `projects/${projectId}/integrations/${webhook.id}`,
      `projects/${projectId}/integrations/${webhook.id}/deliveries/${ping.id}`,
      `environments/${id}`,
      ...withTabs(
        `environments/${id}`,
        "configuration comparison components stacks variables protection settings",
      ),
      `environments/${guarded.environmentId}/protection`,
      `environments/${guarded.environmentId}/protection?view=json`,
      ...guarded.deploymentIds.map((each) => `deployments/${each}`),
      `deployments/${guarded.deploymentIds[2]}/approve`,
      `components/${component.id}/variables`,
      `stacks/${stacks[0].id}`,
      `deployments/${deploymentId}`,
      ...withTabs(`deployments/${deploymentId}`, "changes timeline outputs"),
      `deployments/${queued.id}`,
      "runners",
      `runners/${pools[0].id}`,
      "organization",
      ...withTabs(
        "organization",
        "activity members keys service-accounts trusts freezes sessions usage",
      ),
      `organization/members/${membership.id}`,
      "no/such/page",
    ],
  };
}

/** An environment with every rule and a freeze, and deployments that wait, were rejected, and overrode the rules. */
async function makeProtectedRecords(owner: Service["owner"], projectId: string) {
  const post = (path: string, body: object) => owner.call("POST", path, body);
  const { membership } = await owner.call("GET", "/v1/whoami");
  const project = await owner.call("GET", `/v1/projects/${projectId}`);
  const { id } = await post(`/v1/projects/${projectId}/environments`, { name: "x".repeat(64) });
  await post(`/v1/environments/${id}/stacks`, { name: "first" });
  const freeze = { name: HOSTILE_NAME, reason: HOSTILE, override: [membership.id] };
  const always = { starts_at: "2020-01-01T00:00:00Z", ends_at: "2099-01-01T00:00:00Z" };
  await post(`/v1/projects/${projectId}/freezes`, { ...freeze, ...always, environment_ids: [id] });
  await post(`/v1/orgs/${project.org_id}/freezes`, {
    ...freeze,
    starts_at: "2098-01-01T00:00:00Z",
    ends_at: "2099-01-01T00:00:00Z",
  });
  await owner.call("PUT", `/v1/environments/${id}/protection`, {
    access: { deploy: { membership_ids: [membership.id] } },
    approvals: { required: 2, approvers: { role: "owner" }, prevent_self_approval: false },
    from: {
      environment_ids: [project.default_environment_id],
      minimum_seconds: 3_600,
      same_configuration: { except: ["/replicas"] },
    },
    sources: [{ issuer: "https://gitlab.com", repository_id: "74", ref: `refs/heads/${HOSTILE}` }],
    windows: {
      time_zone: "Europe/Berlin",
      weekly: [{ days: ["monday", "friday"], from: "09:00", to: "17:00" }],
    },
    group: "production",
    exempt: ["rollback"],
  });
  const deploy = async () => {
    const patch = [{ op: "add", path: "/replicas", value: HOSTILE }];
    const source = { registry: { image: HOSTILE } };
    return post(`/v1/environments/${id}/deployments`, { patch, source, queue: "fifo" });
  };
  const [rejected, overridden, waiting] = [await deploy(), await deploy(), await deploy()];
  const decide = (each: { id: string }, body: object) =>
    post(`/v1/deployments/${each.id}/approvals`, body);
  await decide(rejected, { decision: "reject", comment: HOSTILE });
  await decide(overridden, { decision: "approve", comment: HOSTILE });
  await post(`/v1/deployments/${overridden.id}/override`, {
    reason: HOSTILE,
    conditions: ["window", "freeze"],
  });
  return { environmentId: id, deploymentIds: [rejected.id, overridden.id, waiting.id] };
}

const ESC = "\u001b";

/** Lines that attack a page or a terminal. */
const LINES = [
  HOSTILE,
  `${ESC}[31mred ${ESC}[1;4mbold${ESC}[0m ${ESC}[38;5;208morange${ESC}[48;2;1;2;3mon${ESC}[m`,
  `${ESC}]8;;javascript:alert(1)${ESC}\\a link${ESC}]8;;${ESC}\\`,
  `${ESC}[2J${ESC}[1;1Hcleared${ESC}P+q544e${ESC}\\`,
  "zero\u200bwidth \u2066isolate\u2069 \ufeffmark",
  "10 %\r50 %\r100 %",
  "Error: it failed",
  `long ${"x".repeat(200_000)}`,
];

async function deployWithOutputs(environment: DeployedEnvironment): Promise<void> {
  await environment.deploy();
  const started = await environment.start();
  const url = `https://shop.example.com/${"long".repeat(100)}`;
  const long = { [`${"n".repeat(99)}.`]: "v".repeat(2_000), bucket: HOSTILE };
  await started.report(0, "succeeded", undefined, { ...long, url });
  await started.report(1, "succeeded", undefined, { ...long, url });
  await started.complete("succeeded");
}

async function deployWithHostileText(environment: DeployedEnvironment): Promise<string> {
  const { id } = await environment.deploy({
    patch: [{ op: "replace", path: "/web/replicas", value: HOSTILE }],
    source: { registry: { image: "shop:42" } },
  });
  const started = await environment.start();
  await started.print(0, `${LINES.join("\n")}\n`);
  await started.report(0, "failed", HOSTILE);
  await started.complete("failed");
  return id;
}
