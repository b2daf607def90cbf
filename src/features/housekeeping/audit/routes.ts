import { NDJSON } from "../../../http/media-types.ts";
import { operation } from "../../../http/operation.ts";
import { toPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentAuditEntry, toFilter } from "./presenters.ts";
import { AuditQuery, ExportQuery } from "./schemas.ts";
import { exportAuditLog, listAuditLog } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/audit-log",
  operationId: "listAuditLog",
  presentEach: presentAuditEntry,
  scope: "audit:read",
  request: () => ({ params: OrganizationParams(), query: AuditQuery() }),
});

const download = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/audit-log/export",
  operationId: "exportAuditLog",
  scope: "audit:read",
  writes: true,
  request: () => ({ params: OrganizationParams(), query: ExportQuery() }),
});

export const auditRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) =>
    listAuditLog(ctx, params.org_id, toFilter(query), toPageRequest(query)),
  )
  .openapi(download, async (c) => {
    const query = c.req.valid("query");
    const { org_id } = c.req.valid("param");
    const { after } = toPageRequest({ after: query.after, sort_by: "created_at" });
    const lines = await exportAuditLog(c.env, org_id, toFilter(query), after);
    return c.body(lines, 200, { "content-type": NDJSON });
  });
