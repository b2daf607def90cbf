import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { Resource, ResourceList } from "./responses.ts";

const operations = {
  getResource: {
    tags: ["Resources"],
    summary: "Read a resource",
    role: "viewer",
    notFound: ["resource"],
    responses: { 200: jsonReply(Resource(), "The resource.") },
  },
  getStackResource: {
    tags: ["Resources"],
    summary: "Read a resource of a stack",
    role: "viewer",
    notFound: ["resource"],
    responses: { 200: jsonReply(Resource(), "The resource.") },
  },
  getEnvironmentResource: {
    tags: ["Resources"],
    summary: "Read a resource of an environment",
    role: "viewer",
    notFound: ["resource"],
    responses: { 200: jsonReply(Resource(), "The resource.") },
  },
  listStackResources: {
    tags: ["Resources"],
    summary: "List the resources of a stack",
    role: "viewer",
    notFound: ["stack"],
    responses: { 200: jsonReply(ResourceList(), "A page of resources.") },
  },
  listEnvironmentResources: {
    tags: ["Resources"],
    summary: "List the resources of an environment",
    role: "viewer",
    notFound: ["environment"],
    responses: { 200: jsonReply(ResourceList(), "A page of resources.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Resources",
    description: "The parts of stacks at the provider, as runners report them.",
  },
];

export const document: FeatureDocument = { tags, operations };
