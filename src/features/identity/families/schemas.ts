import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { timestampOf } from "../../../lib/schemas.ts";
import { KeyOwner } from "../api-keys/schemas.ts";
import { OrgRole } from "../memberships/schemas.ts";
import { FAMILY_ITEM_TYPES } from "./model.ts";

const FamilyItemType = z.enum(FAMILY_ITEM_TYPES).openapi("FamilyItemType", {
  description:
    "`descendants=revoke` ends each, except a `member`: it removes no person. In an `organization` " +
    "that the family has founded, it ends what `counts` counts, and the credentials of the members " +
    "that the family has added there.",
});

const count = (what: string) =>
  z.int().openapi({ description: `How many ${what} of the family have not ended.`, example: 1 });

const FamilyCounts = z
  .object({
    api_keys: count("API keys"),
    runner_tokens: count("runner tokens"),
    trusts: count("trusts"),
    invitations: count("invitations"),
  })
  .openapi("FamilyCounts", { description: "How much the family has in another organization." });

export const FamilyItem = z
  .object({
    type: FamilyItemType,
    id: z.string().openapi({
      description: "The ID of the resource of this `type`.",
      example: EXAMPLE_IDS.apiKey,
    }),
    name: z.string().optional().openapi({
      description: "Its name. Absent: it has none, or it is a member who was removed.",
      example: "laptop",
    }),
    membership_id: z.string().optional().openapi({
      description: "The membership that it acts for. Absent: none, or another organization's.",
      example: EXAMPLE_IDS.membership,
    }),
    owner: KeyOwner.openapi({
      description: "Whose it is. Absent like `membership_id`, and for a `member`.",
    }).optional(),
    role: OrgRole.optional(),
    counts: FamilyCounts.optional(),
    created_at: timestampOf("When it was created."),
  })
  .openapi("FamilyItem", {
    description: "Something that was made with a credential, or with what it has made.",
  });

export const FamilyItemList = envelopeOf(FamilyItem, "FamilyItemList");
