import type { NamedKind } from "./names.ts";

/** Where the records are that commands take by name. */
export const KINDS = {
  project: {
    noun: "project",
    listCommand: "projects ls",
    listPath: "/v1/projects",
    itemPath: "/v1/projects/{project_id}",
    parameter: "project_id",
    idField: "id",
  },
  environment: {
    noun: "environment",
    listCommand: "environments ls",
    listPath: "/v1/projects/{project_id}/environments",
    itemPath: "/v1/environments/{environment_id}",
    parameter: "environment_id",
    idField: "id",
  },
  component: {
    noun: "component",
    listCommand: "components ls",
    listPath: "/v1/environments/{environment_id}/components",
    itemPath: "/v1/components/{component_id}",
    parameter: "component_id",
    idField: "id",
  },
  stack: {
    noun: "stack",
    listCommand: "stacks ls",
    listPath: "/v1/environments/{environment_id}/stacks",
    itemPath: "/v1/stacks/{stack_id}",
    parameter: "stack_id",
    idField: "id",
  },
  member: {
    noun: "member",
    listCommand: "members ls",
    listPath: "/v1/orgs/{org_id}/members",
    itemPath: "/v1/orgs/{org_id}/members/{member_id}",
    parameter: "member_id",
    idField: "membership_id",
  },
  key: {
    noun: "API key",
    listCommand: "keys ls",
    listPath: "/v1/orgs/{org_id}/api-keys",
    itemPath: "/v1/orgs/{org_id}/api-keys/{key_id}",
    parameter: "key_id",
    idField: "id",
  },
  pool: {
    noun: "runner pool",
    listCommand: "pools ls",
    listPath: "/v1/orgs/{org_id}/runner-pools",
    itemPath: "/v1/orgs/{org_id}/runner-pools/{pool_id}",
    parameter: "pool_id",
    idField: "id",
  },
} as const satisfies Record<string, NamedKind>;
