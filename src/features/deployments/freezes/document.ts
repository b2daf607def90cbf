import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { WHAT_FREEZES } from "./model.ts";
import { Freeze, FreezeList } from "./responses.ts";

const FULL = "Needs a full credential (`full` in `GET /v1/whoami`).";
const MEANWHILE = `${FULL} Meanwhile, no deployment starts; those that run go on. Deployments wait with the code \`freeze\`.`;

const operations = {
  listFreezes: {
    tags: ["Organizations"],
    summary: "List the freezes of all projects",
    description: "Those of single projects are in the lists of these.",
    notFound: ["organization"],
    responses: { 200: jsonReply(FreezeList(), "A page of freezes.") },
  },
  createFreeze: {
    tags: ["Organizations"],
    summary: "Freeze all projects",
    role: "admin",
    changes: ["freezes"],
    description: MEANWHILE,
    notFound: ["organization", "environment", "membership"],
    errors: {
      credential_not_full: NOT_FULL,
      freeze_limit: new LimitReached(LIMITS.freezes.value, WHAT_FREEZES),
    },
    responses: { 201: jsonReply(Freeze(), "The freeze.") },
  },
  listProjectFreezes: {
    tags: ["Projects"],
    summary: "List the freezes of a project",
    role: "viewer",
    notFound: ["project"],
    responses: { 200: jsonReply(FreezeList(), "A page of freezes.") },
  },
  createProjectFreeze: {
    tags: ["Projects"],
    summary: "Freeze a project",
    role: "owner",
    changes: ["freezes"],
    description: MEANWHILE,
    notFound: ["project", "environment", "membership"],
    errors: {
      credential_not_full: NOT_FULL,
      project_freeze_limit: new LimitReached(LIMITS.freezes.value, WHAT_FREEZES),
    },
    responses: { 201: jsonReply(Freeze(), "The freeze.") },
  },
  getFreeze: {
    tags: ["Projects"],
    summary: "Read a freeze",
    notFound: ["freeze"],
    description: "For viewers of its project; one of the organization, for all members.",
    responses: { 200: jsonReply(Freeze(), "The freeze.") },
  },
  deleteFreeze: {
    tags: ["Projects"],
    summary: "Delete a freeze",
    description: `${FULL} Needs the role that creating it does. Deployments that waited for its end start within a minute.`,
    notFound: ["freeze"],
    errors: { credential_not_full: NOT_FULL },
    changes: ["freezes"],
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };
