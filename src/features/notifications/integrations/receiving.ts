import type { ServiceContext } from "../../../context.ts";
import { Conflict } from "../../../lib/errors.ts";
import { isConfirmed } from "./model.ts";
import { DISABLED, requireIntegration, UNCONFIRMED } from "./service.ts";

/** Throws `Conflict` if the integration receives nothing. */
export async function requireReceiving(
  ctx: ServiceContext,
  projectId: string,
  integrationId: string,
): Promise<void> {
  const integration = await requireIntegration(ctx, projectId, integrationId, "owner");
  if (!isConfirmed(integration)) throw new Conflict(UNCONFIRMED);
  if (integration.disabledAt !== null) throw new Conflict(DISABLED);
}
