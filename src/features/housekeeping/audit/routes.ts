import { apiRoute } from "../../../http/api-route.ts";
import { NDJSON } from "../../../http/media-types.ts";
import { toPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { json, ndjsonReply, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { presentAuditEntry, toFilter } from "./presenters.ts";
import { AuditQuery, AuditRecordList, ExportQuery } from "./schemas.ts";
import { exportAuditLog, listAuditLog } from "./service.ts";

const list = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/audit-log",
  operationId: "listAuditLog",
  tags: ["Audit log"],
  summary: "List the audit log",
  description:
    "Returns who did what to which record of the organization, and from where. An act and its " +
    "record are written together. Records cannot be changed, and remain when a project is deleted.",
  access: { scope: "audit:read", role: "admin" },
  request: { params: OrganizationParams, query: AuditQuery },
  responses: { 200: json(AuditRecordList, "A page of records.") },
  notFound: ["organization"],
});

const download = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/audit-log/export",
  operationId: "exportAuditLog",
  tags: ["Audit log"],
  summary: "Export the audit log",
  description:
    "Streams records, the oldest first, one JSON object in each line: an `AuditRecord` with its " +
    "`cursor`. The last line is `end`, `has_more` and `cursor`. Without it, the export broke off: " +
    "repeat the request with `after`, the `cursor` of the last complete line. With `has_more`, the " +
    `export has reached ${LIMITS.auditExportEntries.value} records; continue in the same way. ` +
    `Records of the last ${durationOf(LIMITS.auditExportAgeMs.value)} are in a later export. Each request leaves a record ` +
    "`audit_log.exported`.",
  access: { scope: "audit:read", role: "admin" },
  writes: true,
  request: { params: OrganizationParams, query: ExportQuery },
  responses: { 200: ndjsonReply("The records, and the last line.") },
  notFound: ["organization"],
});

export const auditRoutes = createRouter()
  .openapi(list, (c) => {
    const query = c.req.valid("query");
    return page(
      c,
      (ctx) =>
        listAuditLog(ctx, c.req.valid("param").org_id, toFilter(query), toPageRequest(query)),
      presentAuditEntry,
    );
  })
  .openapi(download, async (c) => {
    const query = c.req.valid("query");
    const { org_id } = c.req.valid("param");
    const { after } = toPageRequest({ after: query.after, sort_by: "created_at" });
    const lines = await c.var.run((ctx) => exportAuditLog(ctx, org_id, toFilter(query), after));
    return c.body(lines, 200, { "content-type": NDJSON });
  });
