import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { ListQuery } from "../../../http/pagination.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { AUDITED_ACTIONS } from "../../../lib/resource-types.ts";
import { enumFilter, identifierInput, text, timestampInput } from "../../../lib/schemas.ts";

/** Of the changelog, too. */
export function actorNameFilter() {
  return text(LIMITS.personLength.value)
    .optional()
    .openapi(
      documented(() => ({
        description:
          "Only what those did whose `actor.name` is exactly this; upper and lower case differ. A page may end early.",
      })),
    );
}

export function targetNameFilter(field: "target" | "record") {
  return text(LIMITS.variableNameLength.value)
    .optional()
    .openapi(
      documented(() => ({
        description: `Only what was done to those whose \`${field}.name\` is exactly this; upper and lower case differ. A page may end early.`,
      })),
    );
}

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
    actor_name: actorNameFilter(),
    target_name: targetNameFilter("target"),
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
