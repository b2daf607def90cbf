import { toTimestamp } from "../../../lib/clock.ts";
import { presentCreatedApiKey } from "../api-keys/index.ts";
import { presentMember } from "../memberships/index.ts";
import { INVITATION_PATH } from "./model.ts";
import type { AcceptedInvitation, CreatedInvitation, InvitationRow } from "./store.ts";

/** With the address, which the organization itself has entered. */
export function presentInvitation(row: InvitationRow) {
  return {
    id: row.id,
    org_id: row.organizationId,
    email: row.email,
    name: row.name ?? undefined,
    role: row.role,
    expires_at: toTimestamp(row.expiresAt),
    created_at: toTimestamp(row.createdAt),
    created_by: { key_id: row.createdByKeyId, membership_id: row.createdByMembershipId },
  };
}

export function presentInvitationUrl({ token, origin }: CreatedInvitation) {
  return { url: `${origin}${INVITATION_PATH}/${token}` };
}

export function presentAcceptedInvitation({ member, apiKey }: AcceptedInvitation) {
  return { membership: presentMember(member), api_key: presentCreatedApiKey(apiKey) };
}
