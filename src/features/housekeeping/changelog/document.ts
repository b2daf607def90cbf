import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { ChangelogEntryList } from "./responses.ts";

const operations = {
  listChangelog: {
    tags: ["Changelog"],
    summary: "List the changes to a project",
    role: "viewer",
    description:
      `Returns the changes to the records of the project, who made them, and when. ` +
      "A change and its entry are written together. Records that are deleted with their parent have " +
      "no entries for that.",
    notFound: ["project"],
    responses: { 200: jsonReply(ChangelogEntryList(), "A page of entries.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Changelog",
    description: "The changes to the records of a project: who made them, and when.",
  },
];

export const document: FeatureDocument = { tags, operations };
