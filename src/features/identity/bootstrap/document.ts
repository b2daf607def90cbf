import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { CreatedOrganization } from "../organizations/responses.ts";

const operations = {
  bootstrap: {
    tags: ["Service"],
    summary: "Create the very first API key",
    description:
      "Creates the first account, organization and key of a new installation. Works once; afterwards " +
      "the response is `not_found`.",
    notFound: ["path"],
    responses: {
      201: jsonReply(
        CreatedOrganization(),
        "The organization and its first key, which is not shown again.",
      ),
    },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };
