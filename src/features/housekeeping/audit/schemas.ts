import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { ListQuery } from "../../../http/pagination.ts";
import { lazy } from "../../../lib/lazy.ts";
import { AUDITED_ACTIONS } from "../../../lib/resource-types.ts";
import { enumFilter, identifierInput, timestampInput } from "../../../lib/schemas.ts";

const Filters = lazy(() =>
  z.object({
    actor: identifierInput("membership")
      .optional()
      .openapi(
        documented(() => ({
          description: "The ID of a membership, or of the credential that was used.",
        })),
      ),
    action: enumFilter("AuditAction", AUDITED_ACTIONS).openapi(
      documented(() => ({
        description: "Only these actions. Several are repeated, or separated by commas.",
      })),
    ),
    target: identifierInput("variable")
      .optional()
      .openapi(documented(() => ({ description: "The ID of the record that was acted on." }))),
    project_id: identifierInput("project")
      .optional()
      .openapi(
        documented(() => ({
          description: "Only acts on a project and its records, deleted ones included.",
        })),
      ),
    from: timestampInput()
      .optional()
      .openapi(
        documented(() => ({
          format: "date-time",
          description: "Only records of this time and later.",
          example: "2026-11-21T00:00:00Z",
        })),
      ),
    to: timestampInput()
      .optional()
      .openapi(
        documented(() => ({
          format: "date-time",
          description: "Only records before this time.",
          example: "2026-11-22T00:00:00Z",
        })),
      ),
  }),
);

export const AuditQuery = lazy(() => Filters().extend(ListQuery().shape));

export const ExportQuery = lazy(() =>
  Filters().extend({
    after: ListQuery().shape.after.openapi(
      documented(() => ({
        description:
          "The `cursor` of the last complete line of an earlier export. Absent: the start.",
      })),
    ),
  }),
);
