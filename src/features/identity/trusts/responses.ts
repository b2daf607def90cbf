import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, identifiersOf, timestampOf } from "../../../lib/schemas.ts";
import { ScopeName } from "../api-keys/index.ts";
import { OrgRole } from "../memberships/index.ts";
import { DEFAULT_TTL_SECONDS } from "./model.ts";
import {
  Audience,
  CONDITIONS,
  EXAMPLE_CONDITIONS,
  Issuer,
  MEMBERSHIP,
  NARROWED,
  Name,
  POOL,
  TTL,
} from "./schemas.ts";

const ExchangedType = component("ExchangedKeyType", () =>
  z.enum(["api_key", "runner_token"]).openapi({
    description: "`runner_token` if the trust is for a pool.",
  }),
);

const Creator = component("TrustCreator", () =>
  z
    .object({
      key_id: identifierOf("apiKey", "The key that created the trust. The trust descends from it."),
      membership_id: identifierOf("membership", "The membership of that key."),
    })
    .openapi({ description: "Who created the trust." }),
);

export const Trust = component("Trust", () =>
  z
    .object({
      id: identifierOf("trust", "The `trust_id` in the paths."),
      org_id: identifierOf("organization", "The organization that trusts the issuer."),
      name: Name(),
      issuer: Issuer(),
      audience: Audience(),
      conditions: z
        .record(z.string(), z.union([z.string(), z.array(z.string())]))
        .openapi({ description: CONDITIONS, example: EXAMPLE_CONDITIONS }),
      membership_id: identifierOf("membership", `${MEMBERSHIP} Absent: a pool.`).optional(),
      pool_id: identifierOf("runnerPool", `${POOL} Absent: a membership.`).optional(),
      role: OrgRole().optional().openapi({
        description: "The maximum role of the keys. Absent: the trust is for a pool.",
      }),
      scopes: z.array(ScopeName()).optional().openapi({ description: NARROWED.scopes }),
      project_ids: identifiersOf("project").optional().openapi({ description: NARROWED.projects }),
      environment_ids: identifiersOf("environment")
        .optional()
        .openapi({ description: NARROWED.environments }),
      ttl_seconds: z.int().min(0).openapi({ description: TTL, example: DEFAULT_TTL_SECONDS }),
      created_by: Creator(),
      created_at: timestampOf("When the trust was created."),
    })
    .openapi({ description: "Which tokens of an issuer can be exchanged, and for what." }),
);

export const TrustList = envelopeOf(Trust, "TrustList");

export const ExchangedKey = component("ExchangedKey", () =>
  z
    .object({
      id: identifierOf("apiKey", "The ID of the key or runner token, which is also a part of it."),
      trust_id: identifierOf("trust", "The trust that accepted the token."),
      type: ExchangedType(),
      key: z.string().openapi({
        description:
          "An API key or a runner token, for the header `x-api-key`. It is not shown again.",
      }),
      expires_at: timestampOf("The key is rejected from this time on."),
      expires_in: z.int().openapi({
        description: "The same in seconds from now, for a client whose clock is wrong.",
        example: DEFAULT_TTL_SECONDS,
      }),
    })
    .openapi({ description: "What a CI job gets for its token." }),
);
