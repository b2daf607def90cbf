import type { Parsed } from "./client.ts";
import { DeliveryHarness } from "./delivery-harness.ts";
import { insertDeliveries, insertIntegration, storedAttempts } from "./delivery-rows.ts";

/** What each statement of each round trip does. */
export const roundTripsOf = (harness: DeliveryHarness) =>
  harness.roundTrips.map((statements) =>
    statements.map((sql) => STATEMENT_KINDS.find(([, of]) => of.test(sql))?.[0]),
  );

export const STATEMENT_KINDS: readonly (readonly [string, RegExp])[] = [
  ["claim", /with recursive/],
  ["throttled", /"wait_ms"/],
  ["release", /^update "deliveries" set "attempts" = "deliveries"."attempts" - 1/],
  ["attempts", /^insert into "delivery_attempts"/],
  ["succeed", /^update "deliveries" set "status" = \?/],
  ["fail", /^update "deliveries" set "status" = case/],
  ["healthy", /^update "integrations" set "failing_since" = \?/],
  [
    "failing",
    /^update "integrations" set "paused_until"|^update "integrations" set "failing_since" = coalesce/,
  ],
  ["sweep", /^select min/],
];

/** Enqueues a delivery to an integration whose endpoint responds like this. */
export async function sendOne(
  project: Parsed,
  answer: () => Response | Promise<Response>,
  fields: Parameters<typeof insertIntegration>[1] = {},
  options: ConstructorParameters<typeof DeliveryHarness>[1] = {},
) {
  const harness = new DeliveryHarness(answer, options);
  const integrationId = await insertIntegration(project, fields);
  const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
  const start = harness.now;
  harness.enqueue([id]);
  const attempts = () => storedAttempts(id);
  return { harness, id, integrationId, start, attempts };
}
