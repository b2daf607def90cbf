import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { BadInput, Conflict, LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { CONFIGURATION_CLEARED } from "./copy-service.ts";
import { CANCEL_TIMEOUT_MS } from "./lifecycle.ts";
import { ACTIVE_OF_ENVIRONMENT, NO_STACKS, ProjectDisconnected } from "./model.ts";
import { ConfigurationChange, Deployment, DeploymentList, DeploymentPreview } from "./responses.ts";

const NEEDS_ENVIRONMENTS = "Needs the scope `environments:read`, too.";

const LACKS_ENVIRONMENTS = {
  lacks_environments: Unauthorized.scope("environments:read"),
};

const PREVIEW =
  `${NEEDS_ENVIRONMENTS} ` +
  "Changes nothing. `error` is what the request itself would return now: a `conflict`, or that the key " +
  "or the role may not make it. `waiting_for` is what it would wait for if you made it, also a runner if none is " +
  "online.";

const DEPLOYABLE =
  "A project that somebody has disconnected, and a deployment without stacks, are a `conflict`.";

const DISCONNECTED = new ProjectDisconnected(Date.parse("2026-11-21T09:30:00.000Z"), "Mona");

const operations = {
  getDeploymentConfiguration: {
    tags: ["Deployments"],
    summary: "Read the configuration before and after a deployment",
    role: "viewer",
    description: `${NEEDS_ENVIRONMENTS} An environment keeps the configurations of its newest ${LIMITS.redeployableDeployments.value} deployments.`,
    notFound: ["deployment"],
    errors: LACKS_ENVIRONMENTS,
    responses: {
      200: jsonReply(ConfigurationChange(), "The configurations, and their difference."),
    },
  },
  previewRedeployment: {
    tags: ["Deployments"],
    summary: "Preview a redeploy",
    role: "viewer",
    description: `${PREVIEW} A redeploy has the variables of its start: \`changed_variables\` names those that have changed since the deployment.`,
    notFound: ["deployment"],
    errors: LACKS_ENVIRONMENTS,
    responses: { 200: jsonReply(DeploymentPreview(), "What the redeploy would do.") },
  },
  previewPromotion: {
    tags: ["Deployments"],
    summary: "Preview a promotion to another environment",
    role: "viewer",
    description: PREVIEW,
    notFound: ["deployment", "environment", "environment in the project"],
    errors: LACKS_ENVIRONMENTS,
    responses: { 200: jsonReply(DeploymentPreview(), "What the promotion would do.") },
  },
  previewDeployment: {
    tags: ["Deployments"],
    summary: "Preview a deployment",
    role: "contributor",
    description: PREVIEW,
    notFound: ["environment", "stack in the environment"],
    errors: LACKS_ENVIRONMENTS,
    responses: { 200: jsonReply(DeploymentPreview(), "What the deployment would do.") },
  },
  listDeployments: {
    tags: ["Deployments"],
    summary: "List the deployments of your organization",
    description:
      "Returns the deployments of the projects that you may read. An admin may read all of them.",
    responses: { 200: jsonReply(DeploymentList(), "A page of deployments.") },
  },
  getDeployment: {
    tags: ["Deployments"],
    summary: "Read a deployment",
    role: "viewer",
    notFound: ["deployment"],
    responses: { 200: jsonReply(Deployment(), "The deployment.") },
  },
  createDeployment: {
    tags: ["Deployments"],
    summary: "Deploy an environment",
    role: "contributor",
    changes: ["deployments"],
    description:
      `${DEPLOYABLE} The patch is applied to a copy of the environment's ` +
      "configuration. The copy becomes the environment's configuration when the deployment succeeds. " +
      "If the configuration changes before a runner starts the deployment, the start applies the " +
      "patch to the new one and updates `data.patch`. If the patch no longer applies, the deployment " +
      "fails with the reason `patch_conflict`. A patch that makes a setting of a built-in executor wrong " +
      "is `bad_input`.",
    notFound: ["environment", "stack in the environment"],
    errors: {
      patch_test_failed: new BadInput([
        { path: "patch.0", message: '"/replicas" does not have the value of the test.' },
      ]),
      project_disconnected: DISCONNECTED,
      no_stacks: NO_STACKS,
      deployment_limit: new LimitReached(LIMITS.unfinishedDeployments.value, ACTIVE_OF_ENVIRONMENT),
      stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
    },
    responses: { 201: jsonReply(Deployment(), "The deployment, queued.") },
  },
  cancelDeployment: {
    tags: ["Deployments"],
    summary: "Cancel a deployment",
    role: "contributor",
    description:
      `A deployment that has not started is \`canceled\` immediately; a running ` +
      `one is \`canceling\`, for at most ${durationOf(CANCEL_TIMEOUT_MS)}. One that has ended otherwise is a \`conflict\`.`,
    notFound: ["deployment"],
    errors: {
      deployment_ended: new Conflict("The deployment has ended: it is succeeded."),
    },
    responses: { 200: jsonReply(Deployment(), "The deployment.") },
  },
  redeployDeployment: {
    tags: ["Deployments"],
    summary: "Deploy again, or roll back",
    role: "contributor",
    changes: ["deployments"],
    description:
      `${DEPLOYABLE} Creates a deployment of the configuration and source of ` +
      "this one. Later changes to the environment's configuration do not affect it.",
    notFound: ["deployment"],
    errors: {
      project_disconnected: DISCONNECTED,
      no_stacks: NO_STACKS,
      configuration_cleared: new Conflict(CONFIGURATION_CLEARED),
    },
    responses: { 201: jsonReply(Deployment(), "The new deployment, queued.") },
  },
  promoteDeployment: {
    tags: ["Deployments"],
    summary: "Promote a deployment to another environment",
    role: "contributor",
    changes: ["deployments"],
    description:
      `${DEPLOYABLE} Creates a deployment of all stacks of the other ` +
      "environment, to the configuration and source of this one, which must have succeeded.",
    notFound: ["deployment", "environment", "environment in the project"],
    errors: {
      project_disconnected: DISCONNECTED,
      no_stacks: NO_STACKS,
      not_succeeded: new Conflict(
        "Only a deployment that has succeeded can be promoted: this one is failed.",
      ),
      configuration_cleared: new Conflict(CONFIGURATION_CLEARED),
    },
    responses: { 201: jsonReply(Deployment(), "The new deployment, queued.") },
  },
  listEnvironmentDeployments: {
    tags: ["Deployments"],
    summary: "List the deployments of an environment",
    role: "viewer",
    notFound: ["environment"],
    responses: { 200: jsonReply(DeploymentList(), "A page of deployments.") },
  },
  getEnvironmentDeployment: {
    tags: ["Deployments"],
    summary: "Read a deployment of an environment",
    role: "viewer",
    notFound: ["deployment"],
    responses: { 200: jsonReply(Deployment(), "The deployment.") },
  },
  listStackDeployments: {
    tags: ["Deployments"],
    summary: "List the deployments of a stack",
    role: "viewer",
    notFound: ["stack"],
    responses: { 200: jsonReply(DeploymentList(), "A page of deployments.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Deployments",
    description: "Changes of an environment to a configuration and source.",
  },
];

export const document: FeatureDocument = { tags, operations };
