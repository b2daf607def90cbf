/** What a person did to a record of a project. */
export const ACTIONS = [
  "created",
  "updated",
  "deleted",
  "canceled",
  "connected",
  "disconnected",
  "disabled",
] as const;
export type Action = (typeof ACTIONS)[number];

/** What a person can do it to. */
export const RECORD_TYPES = [
  "project",
  "project_member",
  "environment",
  "component",
  "stack",
  "variable",
  "deployment",
  "integration",
] as const;
export type RecordType = (typeof RECORD_TYPES)[number];
