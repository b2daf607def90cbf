import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import type { ExampleKind } from "../../../lib/example-ids.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  identifierInput,
  identifierOf,
  identifiersOf,
  nameInput,
  text,
  timestampOf,
} from "../../../lib/schemas.ts";
import { SCOPES } from "../../../lib/scopes.ts";
import { SCOPE_COUNT, ScopeName } from "../api-keys/schemas.ts";
import type { TrustConditions } from "../credentials/model.ts";
import { OrgRole } from "../memberships/schemas.ts";
import { findConditionProblems } from "./conditions.ts";
import { DEFAULT_TTL_SECONDS, MALFORMED } from "./model.ts";

const SECONDS =
  `Send a whole number of seconds from ${LIMITS.minimumKeySeconds.value} to ` +
  `${LIMITS.maximumKeySeconds.value}.`;
const ID_COUNT = `Send 1 to ${LIMITS.keyBoundaries.value} identifiers.`;

export const TTL = "How long each key or runner token is valid, in seconds.";
export const MEMBERSHIP =
  "The membership that the keys act for, such as that of a service account.";
export const POOL = "The pool that the runner tokens are for.";
export const NARROWED = {
  scopes: "The only scopes of the keys. Absent: all that their role permits.",
  projects: "The only projects that the keys can access. Absent: all.",
  environments: "The only environments that the keys can access. Absent: all.",
};
export const CONDITIONS =
  "The claims that a token must have, each with its value, or with a list of which it must have one. In " +
  "a value, `*` stands for any number of characters except `/`. A number or a boolean is compared as its " +
  "JSON text. A missing claim, a list and an object do not match.";
const EXAMPLE_ISSUER = "https://token.actions.githubusercontent.com";
const EXAMPLE_AUDIENCE = "https://longshore.example.com";
export const EXAMPLE_CONDITIONS = {
  repository_id: "74",
  environment: "production",
  job_workflow_ref: "octo-org/octo-automation/.github/workflows/deploy.yml@refs/heads/main",
};

export const Name = nameInput(LIMITS.nameLength.value).openapi({
  description: "What the trust is for. The names of its keys begin with it.",
  example: "deploy workflow",
});
export const Issuer = text(LIMITS.urlLength.value).openapi({
  description:
    "The URL of the issuer, exactly as in the tokens' `iss`. It needs an OpenID Connect configuration " +
    "with keys for RS256 or ES256.",
  example: EXAMPLE_ISSUER,
});
export const Audience = text(LIMITS.trustAudienceLength.value).openapi({
  description:
    "The `aud` that a token must have, or have among others. Use one that only Longshore accepts.",
  example: EXAMPLE_AUDIENCE,
});

/** A record would leave out `__proto__`, and with it a condition. */
const Conditions = z
  .unknown()
  .superRefine((sent, ctx) => {
    for (const { path, message } of findConditionProblems(sent)) {
      ctx.addIssue({ code: "custom", path: path === "" ? [] : [path], message });
    }
  })
  .transform((sent) => sent as TrustConditions)
  .openapi({
    type: "object",
    additionalProperties: {
      anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
    },
    minProperties: 1,
    maxProperties: LIMITS.trustConditions.value,
    description: `${CONDITIONS} \`iss\`, \`aud\`, \`exp\`, \`nbf\`, \`iat\` and \`jti\` are checked for every token.`,
    example: EXAMPLE_CONDITIONS,
  });

export const CreateTrust = z
  .strictObject({
    name: Name,
    issuer: Issuer,
    audience: Audience,
    conditions: Conditions,
    membership_id: identifierInput("membership")
      .optional()
      .openapi({
        description: `${MEMBERSHIP} Send either this or \`pool_id\`.`,
      }),
    pool_id: identifierInput("runnerPool")
      .optional()
      .openapi({
        description: `${POOL} Send either this or \`membership_id\`.`,
      }),
    scopes: z
      .array(ScopeName)
      .min(1, SCOPE_COUNT)
      .max(SCOPES.length, SCOPE_COUNT)
      .optional()
      .openapi({ description: NARROWED.scopes, example: ["deployments:write"] }),
    project_ids: boundary("project").openapi({ description: NARROWED.projects }),
    environment_ids: boundary("environment").openapi({ description: NARROWED.environments }),
    ttl_seconds: z
      .int(SECONDS)
      .min(LIMITS.minimumKeySeconds.value, SECONDS)
      .max(LIMITS.maximumKeySeconds.value, SECONDS)
      .default(DEFAULT_TTL_SECONDS)
      .openapi({ description: TTL }),
  })
  .openapi("CreateTrust", {
    description: "The trust to create.",
    example: {
      name: "deploy workflow",
      issuer: EXAMPLE_ISSUER,
      audience: EXAMPLE_AUDIENCE,
      conditions: EXAMPLE_CONDITIONS,
      membership_id: EXAMPLE_IDS.membership,
      scopes: ["deployments:write"],
    },
  });

/** The compact serialization (RFC 7515, section 3.1). An unsigned token has an empty last part. */
const COMPACT_JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const OVERLONG = `Send a token of at most ${LIMITS.exchangedTokenBytes.value} characters.`;
const EXAMPLE_JWT =
  "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlLmNvbSJ9.c2lnbmF0dXJl";

export const ExchangeToken = z
  .strictObject({
    org_id: identifierInput("organization").openapi({
      description: "The organization that has the trust.",
    }),
    token: z
      .string()
      .max(LIMITS.exchangedTokenBytes.value, OVERLONG)
      .regex(COMPACT_JWT, MALFORMED)
      .openapi({
        description:
          "The JSON Web Token of the CI job, signed with RS256 or ES256. Each is accepted once.",
        example: EXAMPLE_JWT,
      }),
  })
  .openapi("ExchangeToken", {
    description: "The token to exchange.",
    example: { org_id: EXAMPLE_IDS.organization, token: EXAMPLE_JWT },
  });

export const TrustParams = z.object({
  ...idParam("org_id", "organization", "organization"),
  ...idParam("trust_id", "trust", "trust"),
});

function boundary(kind: ExampleKind) {
  return z
    .array(identifierInput(kind))
    .min(1, ID_COUNT)
    .max(LIMITS.keyBoundaries.value, ID_COUNT)
    .transform((ids) => [...new Set(ids)])
    .optional();
}

const ExchangedType = z.enum(["api_key", "runner_token"]).openapi("ExchangedKeyType", {
  description: "`runner_token` if the trust is for a pool.",
});

const Creator = z
  .object({
    key_id: identifierOf("apiKey", "The key that created the trust. The trust descends from it."),
    membership_id: identifierOf("membership", "The membership of that key."),
  })
  .openapi("TrustCreator", { description: "Who created the trust." });

export const Trust = z
  .object({
    id: identifierOf("trust", "The `trust_id` in the paths."),
    org_id: identifierOf("organization", "The organization that trusts the issuer."),
    name: Name,
    issuer: Issuer,
    audience: Audience,
    conditions: z
      .record(z.string(), z.union([z.string(), z.array(z.string())]))
      .openapi({ description: CONDITIONS, example: EXAMPLE_CONDITIONS }),
    membership_id: identifierOf("membership", `${MEMBERSHIP} Absent: a pool.`).optional(),
    pool_id: identifierOf("runnerPool", `${POOL} Absent: a membership.`).optional(),
    role: OrgRole.optional().openapi({
      description: "The maximum role of the keys. Absent: the trust is for a pool.",
    }),
    scopes: z.array(ScopeName).optional().openapi({ description: NARROWED.scopes }),
    project_ids: identifiersOf("project").optional().openapi({ description: NARROWED.projects }),
    environment_ids: identifiersOf("environment")
      .optional()
      .openapi({ description: NARROWED.environments }),
    ttl_seconds: z.int().min(0).openapi({ description: TTL, example: DEFAULT_TTL_SECONDS }),
    created_by: Creator,
    created_at: timestampOf("When the trust was created."),
  })
  .openapi("Trust", { description: "Which tokens of an issuer can be exchanged, and for what." });

export const TrustList = envelopeOf(Trust, "TrustList");

export const ExchangedKey = z
  .object({
    id: identifierOf("apiKey", "The ID of the key or runner token, which is also a part of it."),
    trust_id: identifierOf("trust", "The trust that accepted the token."),
    type: ExchangedType,
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
  .openapi("ExchangedKey", { description: "What a CI job gets for its token." });
