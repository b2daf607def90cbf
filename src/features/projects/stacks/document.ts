import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { COMPONENT, NAME_TAKEN, STACK_IN_USE } from "./model.ts";
import { Stack, StackList } from "./responses.ts";

const TAKEN = "A name that is taken in the environment is a `conflict`.";

const operations = {
  listStacks: {
    tags: ["Stacks"],
    summary: "List the stacks of an environment",
    role: "viewer",
    notFound: ["environment"],
    responses: { 200: jsonReply(StackList(), "A page of stacks.") },
  },
  createStack: {
    tags: ["Stacks"],
    summary: "Create a stack",
    role: "contributor",
    changes: ["stacks"],
    description: TAKEN,
    notFound: ["environment", COMPONENT],
    errors: {
      stack_name_taken: NAME_TAKEN,
      stack_limit: new LimitReached(QUOTAS.stacks, "stacks"),
      environment_stack_limit: new LimitReached(
        LIMITS.stacksOfEnvironment.value,
        "stacks in an environment",
      ),
    },
    responses: { 201: jsonReply(Stack(), "The stack.") },
  },
  getStack: {
    tags: ["Stacks"],
    summary: "Read a stack",
    role: "viewer",
    notFound: ["stack"],
    responses: { 200: jsonReply(Stack(), "The stack.") },
  },
  replaceStack: {
    tags: ["Stacks"],
    summary: "Replace a stack",
    role: "contributor",
    changes: ["stacks"],
    description: TAKEN,
    notFound: ["stack", COMPONENT],
    errors: {
      stack_name_taken: NAME_TAKEN,
    },
    responses: { 200: jsonReply(Stack(), "The stack.") },
  },
  updateStack: {
    tags: ["Stacks"],
    summary: "Change some fields of a stack",
    role: "contributor",
    changes: ["stacks"],
    description: `A field that is absent stays as it is. ${TAKEN}`,
    notFound: ["stack", COMPONENT],
    errors: {
      stack_name_taken: NAME_TAKEN,
    },
    responses: { 200: jsonReply(Stack(), "The stack.") },
  },
  deleteStack: {
    tags: ["Stacks"],
    summary: "Delete a stack",
    role: "contributor",
    changes: ["stacks"],
    description: `Changes nothing at the provider.`,
    notFound: ["stack"],
    errors: {
      stack_in_use: STACK_IN_USE,
    },
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [{ name: "Stacks", description: "The units that are provisioned in an environment." }];

export const document: FeatureDocument = { tags, operations };
