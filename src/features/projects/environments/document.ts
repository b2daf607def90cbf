import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { Project } from "../projects/responses.ts";
import {
  DEPLOYMENT_RUNNING,
  ENVIRONMENT_IN_USE,
  IS_DEFAULT,
  NAME_TAKEN,
  NOT_ALL,
} from "./model.ts";
import { Environment, EnvironmentList } from "./responses.ts";

const SETTINGS_CHECK =
  "A wrong setting of a built-in executor, in a stack whose object changes, is `bad_input`.";

const operations = {
  listEnvironments: {
    tags: ["Environments"],
    summary: "List the environments of a project",
    role: "viewer",
    notFound: ["project"],
    responses: { 200: jsonReply(EnvironmentList(), "A page of environments.") },
  },
  createEnvironment: {
    tags: ["Environments"],
    summary: "Create an environment",
    role: "contributor",
    description: `A name that is taken in the project is a \`conflict\`. ${SETTINGS_CHECK}`,
    notFound: ["project"],
    errors: {
      environment_name_taken: NAME_TAKEN,
      environment_limit: new LimitReached(QUOTAS.environments, "environments"),
    },
    responses: { 201: jsonReply(Environment(), "The environment.") },
  },
  orderEnvironments: {
    tags: ["Environments"],
    summary: "Set the order of the environments of a project",
    role: "owner",
    description:
      "Name all of them, each once: otherwise it is a `conflict`. Those that are created later come last. `ETag` and " +
      "`If-Match` are of the project.",
    notFound: ["project", "environment in the project"],
    errors: { not_all_environments: NOT_ALL },
    responses: { 200: jsonReply(Project(), "The project.") },
  },
  getEnvironment: {
    tags: ["Environments"],
    summary: "Read an environment",
    role: "viewer",
    notFound: ["environment"],
    responses: { 200: jsonReply(Environment(), "The environment.") },
  },
  replaceEnvironment: {
    tags: ["Environments"],
    summary: "Replace an environment",
    role: "contributor",
    changes: ["configuration", "the environment and its name"],
    description:
      `A name that is taken in the project is a \`conflict\`, and so is ` +
      "another configuration while a deployment is `in_progress` or `canceling`. Queued deployments " +
      `are based on the new configuration when they start. ${SETTINGS_CHECK}`,
    notFound: ["environment"],
    errors: {
      environment_name_taken: NAME_TAKEN,
      deployment_running: DEPLOYMENT_RUNNING,
      stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
    },
    responses: { 200: jsonReply(Environment(), "The environment.") },
  },
  updateEnvironment: {
    tags: ["Environments"],
    summary: "Rename an environment",
    role: "contributor",
    changes: ["the environment and its name"],
    description:
      "A field that is absent stays as it is. To change the configuration, replace the environment or " +
      "create a deployment. A name that is taken in the project is a `conflict`.",
    notFound: ["environment"],
    errors: {
      environment_name_taken: NAME_TAKEN,
      stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
    },
    responses: { 200: jsonReply(Environment(), "The environment.") },
  },
  deleteEnvironment: {
    tags: ["Environments"],
    summary: "Delete an environment",
    role: "contributor",
    changes: ["the environment and its name"],
    description:
      `Deletes its components, stacks and variables too. The default ` +
      "environment of a project cannot be deleted: this is a `conflict`.",
    notFound: ["environment"],
    errors: {
      default_environment: IS_DEFAULT,
      environment_in_use: ENVIRONMENT_IN_USE,
    },
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  { name: "Environments", description: "Where a project runs, and with which configuration." },
];

export const document: FeatureDocument = { tags, operations };
