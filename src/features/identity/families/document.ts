import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { FamilyItemList } from "./responses.ts";

const MEMBERS_STAY =
  "Of another organization, it has the name and counts only. The members that the family has added are " +
  "listed, too: they stay, so remove those that you do not know.";

const operations = {
  listApiKeyFamily: {
    tags: ["API keys"],
    summary: "List the family of an API key",
    description: `What revoking the key with \`descendants=revoke\` ends. ${MEMBERS_STAY} The key may be revoked \
already. Needs the role \`admin\` in the organization for a key of another membership.`,
    notFound: ["organization", "API key"],
    errors: { needs_admin: Unauthorized.role("admin") },
    responses: { 200: jsonReply(FamilyItemList(), "A page of the family.") },
  },
  listSessionFamily: {
    tags: ["Sessions"],
    summary: "List the family of a session",
    role: "admin",
    description: `What revoking the session with \`descendants=revoke\` ends. ${MEMBERS_STAY} The session may \
have ended already.`,
    notFound: ["organization", "session"],
    responses: { 200: jsonReply(FamilyItemList(), "A page of the family.") },
  },
  listMemberFamily: {
    tags: ["Organizations"],
    summary: "List what a member has made",
    role: "admin",
    description: `What removing the member with \`descendants=revoke\` ends, the keys and sessions of the member \
included. ${MEMBERS_STAY} The member may be removed already.`,
    notFound: ["organization", "membership"],
    responses: { 200: jsonReply(FamilyItemList(), "A page of the family.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };
