import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, ndjsonReply } from "../../../document/replies.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { AuditRecordList } from "./responses.ts";

const operations = {
  listAuditLog: {
    tags: ["Audit log"],
    summary: "List the audit log",
    role: "admin",
    description:
      "Returns who did what to which record of the organization, and from where. An act and its " +
      "record are written together. Records cannot be changed, and remain when a project is deleted.",
    notFound: ["organization"],
    responses: { 200: jsonReply(AuditRecordList(), "A page of records.") },
  },
  exportAuditLog: {
    tags: ["Audit log"],
    summary: "Export the audit log",
    role: "admin",
    description:
      "Streams records, the oldest first, one JSON object in each line: an `AuditRecord` with its " +
      "`cursor`. The last line is `end`, `has_more` and `cursor`. Without it, the export broke off: " +
      "repeat the request with `after`, the `cursor` of the last complete line. With `has_more`, the " +
      `export has reached ${LIMITS.auditExportEntries.value} records; continue in the same way. ` +
      `Records of the last ${durationOf(LIMITS.auditExportAgeMs.value)} are in a later export. Each request leaves a record ` +
      "`audit_log.exported`.",
    notFound: ["organization"],
    responses: { 200: ndjsonReply("The records, and the last line.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Audit log",
    description: "Who did what in the organization, when, and from where.",
  },
];

export const document: FeatureDocument = { tags, operations };
