import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { NAME_TAKEN } from "./model.ts";
import { Component, ComponentList } from "./responses.ts";

const TAKEN = "A name that is taken in the environment is a `conflict`.";

const operations = {
  listComponents: {
    tags: ["Components"],
    summary: "List the components of an environment",
    role: "viewer",
    notFound: ["environment"],
    responses: { 200: jsonReply(ComponentList(), "A page of components.") },
  },
  createComponent: {
    tags: ["Components"],
    summary: "Create a component",
    role: "contributor",
    changes: ["components"],
    description: TAKEN,
    notFound: ["environment"],
    errors: {
      component_name_taken: NAME_TAKEN,
      component_limit: new LimitReached(QUOTAS.components, "components"),
    },
    responses: { 201: jsonReply(Component(), "The component.") },
  },
  getComponent: {
    tags: ["Components"],
    summary: "Read a component",
    role: "viewer",
    notFound: ["component"],
    responses: { 200: jsonReply(Component(), "The component.") },
  },
  replaceComponent: {
    tags: ["Components"],
    summary: "Replace a component",
    role: "contributor",
    changes: ["components"],
    description: TAKEN,
    notFound: ["component"],
    errors: {
      component_name_taken: NAME_TAKEN,
    },
    responses: { 200: jsonReply(Component(), "The component.") },
  },
  updateComponent: {
    tags: ["Components"],
    summary: "Change some fields of a component",
    role: "contributor",
    changes: ["components"],
    description: `A field that is absent stays as it is. ${TAKEN}`,
    notFound: ["component"],
    errors: {
      component_name_taken: NAME_TAKEN,
    },
    responses: { 200: jsonReply(Component(), "The component.") },
  },
  deleteComponent: {
    tags: ["Components"],
    summary: "Delete a component",
    role: "contributor",
    changes: ["components"],
    description:
      `Deletes its variables too. Its stacks stay in the environment, because ` +
      "they represent what runs at the provider.",
    notFound: ["component"],
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [{ name: "Components", description: "The parts of an app in an environment." }];

export const document: FeatureDocument = { tags, operations };
