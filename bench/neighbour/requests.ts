import { LIMITS } from "../../src/lib/limits.ts";
import type { Caller, Reply } from "./caller.ts";
import { type Operation, parametersOf, readOperations } from "./document.ts";
import { largestBody, largestDocument, type Replacements, unique } from "./largest-input.ts";
import { PERIOD, type Target } from "./target.ts";

const DELIVERIES = "the schedule sends deliveries, as `npm run bench -- deliveries` measures";
const ISSUER = "asks an issuer, which the benchmark does not have";
const PERSON = "needs a person, and is refused to a key";
const SESSION = "about a session, which has windows of its own";
const NEEDED = "ends what other requests are about";
const SLACK = "needs an app of Slack";

/** Operations with an API key that a flood does not send, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  createOrganization: "off by default",
  deleteOrganization: NEEDED,
  deleteAccount: NEEDED,
  removeProjectMember: NEEDED,
  createApproval: PERSON,
  overrideDeployment: PERSON,
  createTrust: ISSUER,
  getTrust: ISSUER,
  deleteTrust: ISSUER,
  revokeSession: SESSION,
  revokeMemberSession: SESSION,
  listSessionFamily: SESSION,
  installSlack: SLACK,
  confirmIntegration: SLACK,
  createIntegration: DELIVERIES,
  getIntegration: DELIVERIES,
  updateIntegration: DELIVERIES,
  deleteIntegration: DELIVERIES,
  rotateIntegrationSecret: DELIVERIES,
  resumeIntegration: DELIVERIES,
  listDeliveries: DELIVERIES,
  getDelivery: DELIVERIES,
  redeliver: DELIVERIES,
  pingIntegration: DELIVERIES,
  createRecovery: DELIVERIES,
  listRecoveries: DELIVERIES,
  getRecovery: DELIVERIES,
};

/** What an operation makes for one that ends it, by the parameter of the latter. */
const MADE: Readonly<Record<string, string>> = {
  addMember: "member_id",
  createApiKey: "key_id",
  createComponent: "component_id",
  createComponentVariable: "variable_id",
  createDeployment: "deployment_id",
  createEnvironment: "environment_id",
  createEnvironmentVariable: "variable_id",
  createFreeze: "freeze_id",
  createInvitation: "invitation_id",
  createProject: "project_id",
  createProjectFreeze: "freeze_id",
  createRunnerPool: "pool_id",
  createRunnerToken: "token_id",
  createServiceAccount: "membership_id",
  createStack: "stack_id",
  promoteDeployment: "deployment_id",
  redeployDeployment: "deployment_id",
};
/** In the path, for what a request ends. */
const ENDED = "{ended}";
const ENDING = /^(delete|remove|revoke|cancel|rotate)/;

/** Undefined: there is nothing yet that the request would end. */
type Send = (caller: Caller) => Promise<Reply> | undefined;

export interface FloodRequest {
  operation: Operation;
  /** Whether others end what it makes. */
  creates: boolean;
  send: Send;
}

/** One request of each operation of the document, with the largest valid input. */
export function newRequests(target: Target): FloodRequest[] {
  const made = new Map<string, string[]>();
  return readOperations()
    .filter(
      ({ operationId, credentials }) =>
        credentials.includes("api_key") && !(operationId in LEFT_OUT),
    )
    .map((operation) => ({
      operation,
      creates: operation.operationId in MADE,
      send: newRequest(operation, target, made),
    }))
    .toSorted((a, b) => orderOf(a.operation) - orderOf(b.operation));
}

function orderOf({ operationId }: Operation): number {
  return ENDING.test(operationId) ? 1 : 0;
}

/** @param made What the flood may end, by parameter. */
function newRequest(operation: Operation, target: Target, made: Map<string, string[]>): Send {
  const { operationId, method, body: schema } = operation;
  const body = schema && largestBody(schema, replacementsFor(operation, target));
  const ids = { ...target.ids, ...ownIds(operationId, target) };
  const query = queryOf(operation, target);
  const ended = ENDING.test(operationId) ? parametersOf(operation).at(-1) : undefined;
  const makes = MADE[operationId];
  const path = pathWith(operation, { ...ids, ...(ended !== undefined && { [ended]: ENDED }) });
  return (caller) => {
    const own = ended === undefined ? undefined : made.get(ended)?.pop();
    if (ended !== undefined && own === undefined) return undefined;
    const headers = { "content-type": "application/json" };
    const sent = caller.sendText(
      method,
      unique(path.replace(ENDED, String(own)) + query),
      body && unique(body),
      headers,
    );
    return sent.then((reply) => {
      const id = reply.body?.id ?? reply.body?.membership_id;
      if (makes !== undefined && reply.status === 201 && id !== undefined) {
        made.set(makes, [...(made.get(makes) ?? []), id]);
      }
      return reply;
    });
  };
}

function queryOf({ operationId, takesPages }: Operation, { other }: Target): string {
  if (operationId === "compareEnvironments") return `?with=${other.environmentId}`;
  return takesPages ? `?limit=${LIMITS.pageItems.value}` : "";
}

function pathWith({ path }: Operation, ids: Readonly<Record<string, string | undefined>>): string {
  return path.replaceAll(/\{(.+?)\}/g, (_, name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`There is no ${name} for ${path}`);
    return id;
  });
}

/** Where the request would have no effect, or make others fail. */
function ownIds(operationId: string, { other, ordered, runners: [runner] }: Target) {
  const elsewhere = { environment_id: other.environmentId };
  const { resource, environmentId: environment_id } = runner;
  const reported = { environment_id, stack_id: runner.stackId };
  const one = { environment_id, stack_id: resource.stackId, resource_id: resource.id };
  const ids: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    connectProject: { project_id: other.projectId },
    disconnectProject: { project_id: other.projectId },
    createComponentVariable: { component_id: runner.componentId },
    createEnvironmentVariable: { environment_id: runner.environmentId },
    listComponentVariables: { component_id: other.componentId },
    putComponentVariables: { component_id: other.componentId },
    revealComponentVariables: { component_id: other.componentId },
    createStack: { environment_id: runner.environmentId },
    orderEnvironments: { project_id: ordered.projectId },
    previewPromotion: elsewhere,
    replaceEnvironment: elsewhere,
    replaceProtection: { environment_id: String(ordered.environmentIds[0]) },
    getEnvironmentResource: one,
    getResource: one,
    getStackResource: one,
    listEnvironmentResources: reported,
    listStackResources: reported,
    readLog: { deployment_id: runner.deploymentId },
    reportAlarm: { name: unique("mmmmmmmm") },
  };
  return ids[operationId];
}

function replacementsFor(operation: Operation, { ids, other, ordered }: Target): Replacements {
  const { operationId } = operation;
  return {
    ...PERIOD,
    default_environment_id: ids["environment_id"],
    environment_id: other.environmentId,
    environment_ids: environmentsFor(operationId, { ids, ordered }),
    component_id: operationId === "createStack" ? undefined : ids["component_id"],
    member_ids: [ids["member_id"]],
    membership_ids: [ids["member_id"]],
    override: [ids["member_id"]],
    configuration: largestDocument(),
    // With the value that it replaces, a patch has the size of a configuration.
    patch: [{ op: "add", path: "/flood", value: largestDocument(LIMITS.patchBytes.value * 0.4) }],
    stack_ids: undefined,
    mode: "replace",
    email: "mmmmmmmm@example.com",
    max_age_seconds: null,
    membership_id: undefined,
    project_ids: undefined,
    // Instead of it, `membership_ids`; and not more than all rules may have.
    ...(operationId === "replaceProtection" && {
      ...{ role: undefined, except: ["/flood"], trust_ids: undefined },
      ...{ repository_id: "4711", ref: "refs/heads/main" },
    }),
    ...(operationId.endsWith("Project") && { repo_id: undefined }),
    scopes: undefined,
    expires_at: undefined,
    overlap_seconds: undefined,
  };
}

function environmentsFor(operationId: string, { ids, ordered }: Pick<Target, "ids" | "ordered">) {
  if (operationId === "orderEnvironments") return ordered.environmentIds;
  if (operationId === "replaceProtection") {
    return ordered.environmentIds.slice(1, LIMITS.rulePlaces.value + 1);
  }
  const takesSome = /RunnerPool|Freeze/.test(operationId);
  return takesSome ? [ids["environment_id"]] : undefined;
}
