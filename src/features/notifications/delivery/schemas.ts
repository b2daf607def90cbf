import { documented } from "#documented";
import { ListQuery } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { enumFilter } from "../../../lib/schemas.ts";
import { DELIVERY_STATUSES } from "../../housekeeping/outbox/model.ts";
import { IntegrationParams } from "../integrations/index.ts";

export const DeliveryParams = lazy(() =>
  IntegrationParams().extend(idParam("delivery_id", "delivery", "delivery")),
);

export const DeliveryQuery = lazy(() =>
  ListQuery().extend({
    status: enumFilter("DeliveryStatus", DELIVERY_STATUSES).openapi(
      documented(() => ({
        description: "Only deliveries with one of these statuses. Default: all.",
      })),
    ),
  }),
);
