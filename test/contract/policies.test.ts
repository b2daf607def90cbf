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

/** Every operation, by its ID. Add a new one deliberately: the table is not derived from the routes. */
const ACCESS: Record<string, Access> = {
  acceptInvitation: PUBLIC,
  showInvitation: PUBLIC,
  acceptInvitationOnPage: PUBLIC,
  finishSlackInstallation: PUBLIC,
  bootstrap: PUBLIC,
  readHealth: PUBLIC,
  readOpenApiDocument: PUBLIC,
  listOrganizations: { api_key: "default" },
  createOrganization: { api_key: "default" },
  getOrganization: { api_key: "default" },
  updateOrganization: { api_key: "default" },
  deleteOrganization: { api_key: "default" },
  getUsage: { api_key: "default" },
  listMembers: { api_key: "default" },
  addMember: { api_key: "default" },
  getMember: { api_key: "default" },
  replaceMember: { api_key: "default" },
  removeMember: { api_key: "default" },
  listInvitations: { api_key: "default" },
  createInvitation: { api_key: "default" },
  getInvitation: { api_key: "default" },
  revokeInvitation: { api_key: "default" },
  whoAmI: { api_key: "default" },
  getAccount: { api_key: "default" },
  updateAccount: { api_key: "default" },
  deleteAccount: { api_key: "default" },
  listApiKeys: { api_key: "default" },
  createApiKey: { api_key: "default" },
  getApiKey: { api_key: "default" },
  updateApiKey: { api_key: "default" },
  rotateApiKey: { api_key: "default" },
  createSession: PUBLIC,
  showSignInLink: PUBLIC,
  useSignInLink: PUBLIC,
  listSessions: { api_key: "default" },
  endCurrentSession: { session: "console" },
  listSignInMethods: PUBLIC,
  startSignIn: PUBLIC,
  finishSignIn: PUBLIC,
  showSignInOrganizations: PUBLIC,
  chooseSignInOrganization: PUBLIC,
  declineSignInOrganization: PUBLIC,
  listSessionOrganizations: { session: "console" },
  switchOrganization: { session: "console" },
  revokeSession: { api_key: "default" },
  listMemberSessions: { api_key: "default" },
  revokeMemberSession: { api_key: "default" },
  listApiKeyFamily: { api_key: "default" },
  listSessionFamily: { api_key: "default" },
  listMemberFamily: { api_key: "default" },
  createSignInLink: { api_key: "default" },
  getApiKeyPolicy: { api_key: "default" },
  putApiKeyPolicy: { api_key: "default" },
  revokeApiKey: { api_key: "default" },
  listServiceAccounts: { api_key: "default" },
  createServiceAccount: { api_key: "default" },
  getServiceAccount: { api_key: "default" },
  updateServiceAccount: { api_key: "default" },
  deleteServiceAccount: { api_key: "default" },
  listTrusts: { api_key: "default" },
  createTrust: { api_key: "default" },
  getTrust: { api_key: "default" },
  deleteTrust: { api_key: "default" },
  exchangeToken: PUBLIC,
  listRunnerPools: { api_key: "default" },
  createRunnerPool: { api_key: "default" },
  getRunnerPool: { api_key: "default" },
  updateRunnerPool: { api_key: "default" },
  deleteRunnerPool: { api_key: "default" },
  listRunnerPoolAttempts: { api_key: "polling" },
  listRunnerTokens: { api_key: "default" },
  createRunnerToken: { api_key: "default" },
  getRunnerToken: { api_key: "default" },
  rotateRunnerToken: { api_key: "default" },
  revokeRunnerToken: { api_key: "default" },
  listAuditLog: { api_key: "default" },
  exportAuditLog: { api_key: "default" },
  listProjects: { api_key: "default" },
  createProject: { api_key: "default" },
  listProjectsOfOrganization: { api_key: "default" },
  getProject: { api_key: "default" },
  getProjectOverview: { api_key: "polling" },
  replaceProject: { api_key: "default" },
  updateProject: { api_key: "default" },
  deleteProject: { api_key: "default" },
  connectProject: { api_key: "default" },
  disconnectProject: { api_key: "default" },
  listChangelog: { api_key: "default" },
  listProjectMembers: { api_key: "default" },
  addProjectMembers: { api_key: "default" },
  getProjectMember: { api_key: "default" },
  replaceProjectMember: { api_key: "default" },
  removeProjectMember: { api_key: "default" },
  listEnvironments: { api_key: "default" },
  createEnvironment: { api_key: "default" },
  getEnvironment: { api_key: "default" },
  replaceEnvironment: { api_key: "default" },
  updateEnvironment: { api_key: "default" },
  deleteEnvironment: { api_key: "default" },
  listComponents: { api_key: "default" },
  createComponent: { api_key: "default" },
  getComponent: { api_key: "default" },
  replaceComponent: { api_key: "default" },
  updateComponent: { api_key: "default" },
  deleteComponent: { api_key: "default" },
  listStacks: { api_key: "default" },
  createStack: { api_key: "default" },
  getStack: { api_key: "default" },
  replaceStack: { api_key: "default" },
  updateStack: { api_key: "default" },
  deleteStack: { api_key: "default" },
  listAlarms: { api_key: "default" },
  reportAlarm: { api_key: "default", runner_token: "runner" },
  getVariable: { api_key: "default" },
  replaceVariable: { api_key: "default" },
  deleteVariable: { api_key: "default" },
  revealVariable: { api_key: "reveal" },
  listComponentVariables: { api_key: "default" },
  createComponentVariable: { api_key: "default" },
  putComponentVariables: { api_key: "default" },
  revealComponentVariables: { api_key: "reveal" },
  revealEnvironmentVariables: { api_key: "reveal" },
  listEnvironmentVariables: { api_key: "default" },
  createEnvironmentVariable: { api_key: "default" },
  putEnvironmentVariables: { api_key: "default" },
  listDeployments: { api_key: "polling" },
  getDeployment: { api_key: "polling" },
  createDeployment: { api_key: "default" },
  readLog: { api_key: "polling" },
  listEnvironmentDeployments: { api_key: "polling" },
  cancelDeployment: { api_key: "default" },
  redeployDeployment: { api_key: "default" },
  getDeploymentConfiguration: { api_key: "polling" },
  previewRedeployment: { api_key: "polling" },
  previewPromotion: { api_key: "polling" },
  promoteDeployment: { api_key: "default" },
  getEnvironmentDeployment: { api_key: "polling" },
  listStackDeployments: { api_key: "polling" },
  getResource: { api_key: "polling" },
  getStackResource: { api_key: "polling" },
  getEnvironmentResource: { api_key: "polling" },
  listStackResources: { api_key: "polling" },
  listEnvironmentResources: { api_key: "polling" },
  listIntegrations: { api_key: "default" },
  createIntegration: { api_key: "default" },
  getIntegration: { api_key: "default" },
  updateIntegration: { api_key: "default" },
  deleteIntegration: { api_key: "default" },
  confirmIntegration: { api_key: "default" },
  rotateIntegrationSecret: { api_key: "default" },
  installSlack: { api_key: "default" },
  listEvents: { api_key: "default" },
  resumeIntegration: { api_key: "default" },
  createRecovery: { api_key: "default" },
  listRecoveries: { api_key: "default" },
  getRecovery: { api_key: "default" },
  listDeliveries: { api_key: "default" },
  getDelivery: { api_key: "default" },
  redeliver: { api_key: "default" },
  pingIntegration: { api_key: "default" },
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
  const { api_key, ...others } = ACCESS[id] ?? PUBLIC;
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
  it("is in the table of rate limit policies, and no other", () => {
    const declared = operations.map(({ operationId }) => operationId);
    expect(declared.toSorted()).toEqual(Object.keys(ACCESS).toSorted());
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
