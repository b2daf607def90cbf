import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { POLICIES, type PolicyName } from "../../src/rate-limits/policies.ts";
import { Client } from "../support/client.ts";
import { exampleBody, type Operation, operations } from "../support/contract.ts";
import {
  newKey,
  newPool,
  newProject,
  newWorld,
  SharedKeys,
  signIn,
  type World,
} from "../support/world.ts";

/** The rate limit policy for each accepted credential. */
type Access = { readonly [Name in (typeof names)[number]]?: PolicyName };

/** Limited by client address only. A bootstrap token has no policy. */
const PUBLIC: Access = {};

/** Most operations. */
const DEFAULT: Access = { api_key: "default" };

/** The other operations, by their ID. Add a new one deliberately: the table is not derived from the routes. */
const ACCESS: Record<string, Access> = {
  acceptInvitation: PUBLIC,
  showInvitation: PUBLIC,
  acceptInvitationOnPage: PUBLIC,
  finishSlackInstallation: PUBLIC,
  bootstrap: PUBLIC,
  readHealth: PUBLIC,
  readMetrics: PUBLIC,
  readOpenApiDocument: PUBLIC,
  createSession: PUBLIC,
  showSignInLink: PUBLIC,
  useSignInLink: PUBLIC,
  endCurrentSession: { session: "console" },
  listSignInMethods: PUBLIC,
  startSignIn: PUBLIC,
  finishSignIn: PUBLIC,
  showSignInOrganizations: PUBLIC,
  chooseSignInOrganization: PUBLIC,
  declineSignInOrganization: PUBLIC,
  listSessionOrganizations: { session: "console" },
  switchOrganization: { session: "console" },
  exchangeToken: PUBLIC,
  listRunnerPoolAttempts: { api_key: "polling" },
  listRunnerPoolRunners: { api_key: "polling" },
  getProjectOverview: { api_key: "polling" },
  listInsights: { api_key: "polling" },
  reportAlarm: { api_key: "default", runner_token: "runner" },
  revealVariable: { api_key: "reveal" },
  revealComponentVariables: { api_key: "reveal" },
  revealEnvironmentVariables: { api_key: "reveal" },
  listDeployments: { api_key: "polling" },
  getDeployment: { api_key: "polling" },
  listPendingApprovals: { api_key: "polling" },
  listApprovals: { api_key: "polling" },
  readLog: { api_key: "polling" },
  listEnvironmentDeployments: { api_key: "polling" },
  getDeploymentConfiguration: { api_key: "polling" },
  compareEnvironments: { api_key: "polling" },
  previewRedeployment: { api_key: "polling" },
  previewPromotion: { api_key: "polling" },
  getEnvironmentDeployment: { api_key: "polling" },
  listStackDeployments: { api_key: "polling" },
  getResource: { api_key: "polling" },
  getStackResource: { api_key: "polling" },
  getEnvironmentResource: { api_key: "polling" },
  listStackResources: { api_key: "polling" },
  listEnvironmentResources: { api_key: "polling" },
  claimDeployment: { runner_token: "runner" },
  listAttempts: { runner_token: "runner" },
  startAttempt: { runner_token: "runner" },
  sendHeartbeat: { runner_token: "runner" },
  deliverVariables: { runner_token: "runner" },
  reportStack: { runner_token: "runner" },
  completeAttempt: { runner_token: "runner" },
  releaseAttempt: { runner_token: "runner" },
  appendToLog: { runner_token: "runner" },
};

const names = ["api_key", "session", "runner_token"] as const;

/** A session opens what an API key opens. It reveals no more values than its key, and has one window else. */
function accessOf(id: string): Access {
  const { api_key, ...others } = ACCESS[id] ?? DEFAULT;
  if (!api_key) return others;
  return { api_key, session: api_key === "reveal" ? "reveal" : "console", ...others };
}

let world: World;
let runnerToken: string | undefined;
let sessions: SharedKeys;

beforeAll(async () => {
  world = await newWorld();
  sessions = new SharedKeys(world, {}, "session");
  const project = await newProject(world.client);
  runnerToken = (await newPool(world, [project.default_environment_id])).runner.key;
});

async function newClient(name: (typeof names)[number], { operationId }: Operation) {
  if (name === "runner_token") return new Client(runnerToken);
  if (name === "session" && operationId !== "endCurrentSession") return sessions.next();
  const key = await newKey(world);
  return name === "session" ? (await signIn(key)).client : key.client;
}

/** The name of the policy in the reply to a request for records that do not exist. */
async function policyOf(operation: Operation, client: Client): Promise<string | null> {
  const path = operation.path.replaceAll(/\{.+?\}/g, () => newId(systemClock));
  const { headers } = await client.request(operation.method, path, exampleBody(operation));
  return headers.get("ratelimit-policy");
}

describe("every operation", () => {
  it("of the table of rate limit policies exists", () => {
    const declared = operations.map(({ operationId }) => operationId);
    expect(Object.keys(ACCESS).filter((id) => !declared.includes(id))).toEqual([]);
  });

  it.each(operations.map((each) => [each.operationId, each] as const))(
    "accepts the credentials and has the policy of the table: %s",
    async (id, operation) => {
      const access = accessOf(id);
      const accepted = operation.security.flatMap((each) => Object.keys(each));
      expect(accepted.filter((name) => name !== "bootstrap_token")).toEqual(Object.keys(access));
      for (const name of names) {
        const policy = access[name];
        if (!policy) continue;
        const { limit } = POLICIES[policy];
        const found = await policyOf(operation, await newClient(name, operation));
        expect(found).toBe(`"${policy}";q=${limit};w=60`);
      }
      if (accepted.length === 0)
        expect(await policyOf(operation, new Client(undefined))).toBeNull();
    },
  );
});
