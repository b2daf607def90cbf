import { operation } from "../../http/operation.ts";
import { toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { jsonReply, NDJSON, ndjsonReply } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { LIMITS } from "../../lib/limits.ts";
import { presentRecord, toFilter } from "./presenters.ts";
import { AuditQuery, AuditRecordList, ExportQuery } from "./schemas.ts";
import { exportAuditLog, listAuditLog } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/audit-log",
  operationId: "listAuditLog",
  tags: ["Audit log"],
  summary: "List the audit log",
  role: "admin",
  scope: "audit:read",
  description:
    "Returns who did what to which record of the organization, and from where. An act and its " +
    "record are written together. Records cannot be changed, and remain when a project is deleted.",
  notFound: ["organization"],
  request: { params: OrganizationParams(), query: AuditQuery() },
  responses: { 200: jsonReply(AuditRecordList(), "A page of records.") },
});

const download = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/audit-log/export",
  operationId: "exportAuditLog",
  tags: ["Audit log"],
  summary: "Export the audit log",
  role: "admin",
  scope: "audit:read",
  description:
    "Streams records, the oldest first, one JSON object in each line: an `AuditRecord` with its " +
    "`cursor`. The last line is `end`, `has_more` and `cursor`. Without it, the export broke off: " +
    "repeat the request with `after`, the `cursor` of the last complete line. With `has_more`, the " +
    `export has reached ${LIMITS.auditExportRecords.value} records; continue in the same way. ` +
    "Records of the last minute are in a later export. Each request leaves a record " +
    "`audit_log.exported`.",
  writes: true,
  notFound: ["organization"],
  request: { params: OrganizationParams(), query: ExportQuery() },
  responses: { 200: ndjsonReply("The records, and the last line.") },
});

export const auditRoutes = createRouter()
  .openapi(list, async (c) => {
    const query = c.req.valid("query");
    const { org_id } = c.req.valid("param");
    const records = await listAuditLog(c.env, org_id, toFilter(query), toPageRequest(query));
    return c.json(toEnvelope(records, presentRecord), 200);
  })
  .openapi(download, async (c) => {
    const query = c.req.valid("query");
    const { org_id } = c.req.valid("param");
    const { after } = toPageRequest({ after: query.after, sort_by: "created_at" });
    const lines = await exportAuditLog(c.env, org_id, toFilter(query), after);
    return c.body(lines, 200, { "content-type": NDJSON });
  });
