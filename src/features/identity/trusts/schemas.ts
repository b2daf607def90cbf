import { z } from "@hono/zod-openapi";
import { documented, EXAMPLE_IDS } from "#documented";
import { idParam } from "../../../http/params.ts";
import type { ExampleKind } from "../../../lib/example-ids.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { component, identifierInput, nameInput, text } from "../../../lib/schemas.ts";
import { SCOPES } from "../../../lib/scopes.ts";
import { SCOPE_COUNT, ScopeName } from "../api-keys/index.ts";
import type { TrustConditions } from "../credentials/model.ts";
import { findConditionProblems } from "./conditions.ts";
import { DEFAULT_TTL_SECONDS, MALFORMED } from "./model.ts";

const SECONDS =
  `Send a whole number of seconds from ${LIMITS.minimumKeySeconds.value} to ` +
  `${LIMITS.maximumKeySeconds.value}.`;
const ID_COUNT = `Send 1 to ${LIMITS.keyBoundaries.value} identifiers.`;

export const TTL = documented(() => "How long each key or runner token is valid, in seconds.");
export const MEMBERSHIP = documented(
  () => "The membership that the keys act for, such as that of a service account.",
);
export const POOL = documented(() => "The pool that the runner tokens are for.");
export const NARROWED = documented(() => ({
  scopes: "The only scopes of the keys. Absent: all that their role permits.",
  projects: "The only projects that the keys can access. Absent: all.",
  environments: "The only environments that the keys can access. Absent: all.",
}));
export const CONDITIONS = documented(
  () =>
    "The claims that a token must have, each with its value, or with a list of which it must have one. In " +
    "a value, `*` stands for any number of characters except `/`. A number or a boolean is compared as its " +
    "JSON text. A missing claim, a list and an object do not match.",
);
const EXAMPLE_ISSUER = documented(() => "https://token.actions.githubusercontent.com");
const EXAMPLE_AUDIENCE = documented(() => "https://longshore.example.com");
export const EXAMPLE_CONDITIONS = documented(() => ({
  repository_id: "74",
  environment: "production",
  job_workflow_ref: "octo-org/octo-automation/.github/workflows/deploy.yml@refs/heads/main",
}));

export const Name = lazy(() =>
  nameInput(LIMITS.nameLength.value).openapi(
    documented(() => ({
      description: "What the trust is for. The names of its keys begin with it.",
      example: "deploy workflow",
    })),
  ),
);
export const Issuer = lazy(() =>
  text(LIMITS.urlLength.value).openapi(
    documented(() => ({
      description:
        "The URL of the issuer, exactly as in the tokens' `iss`. It needs an OpenID Connect configuration " +
        "with keys for RS256 or ES256.",
      example: EXAMPLE_ISSUER,
    })),
  ),
);
export const Audience = lazy(() =>
  text(LIMITS.trustAudienceLength.value).openapi(
    documented(() => ({
      description:
        "The `aud` that a token must have, or have among others. Use one that only Longshore accepts.",
      example: EXAMPLE_AUDIENCE,
    })),
  ),
);

/** A record would leave out `__proto__`, and with it a condition. */
const Conditions = lazy(() =>
  z
    .unknown()
    .superRefine((sent, ctx) => {
      for (const { path, message } of findConditionProblems(sent)) {
        ctx.addIssue({ code: "custom", path: path === "" ? [] : [path], message });
      }
    })
    .transform((sent) => sent as TrustConditions)
    .openapi(
      documented(() => ({
        type: "object",
        additionalProperties: {
          anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
        },
        minProperties: 1,
        maxProperties: LIMITS.trustConditions.value,
        description: `${CONDITIONS} \`iss\`, \`aud\`, \`exp\`, \`nbf\`, \`iat\` and \`jti\` are checked for every token.`,
        example: EXAMPLE_CONDITIONS,
      })),
    ),
);

export const CreateTrust = component("CreateTrust", () =>
  z
    .strictObject({
      name: Name(),
      issuer: Issuer(),
      audience: Audience(),
      conditions: Conditions(),
      membership_id: identifierInput("membership")
        .optional()
        .openapi(
          documented(() => ({
            description: `${MEMBERSHIP} Send either this or \`pool_id\`.`,
          })),
        ),
      pool_id: identifierInput("runnerPool")
        .optional()
        .openapi(
          documented(() => ({
            description: `${POOL} Send either this or \`membership_id\`.`,
          })),
        ),
      scopes: z
        .array(ScopeName())
        .min(1, SCOPE_COUNT)
        .max(SCOPES.length, SCOPE_COUNT)
        .optional()
        .openapi(
          documented(() => ({ description: NARROWED.scopes, example: ["deployments:write"] })),
        ),
      project_ids: boundary("project").openapi(
        documented(() => ({ description: NARROWED.projects })),
      ),
      environment_ids: boundary("environment").openapi(
        documented(() => ({ description: NARROWED.environments })),
      ),
      ttl_seconds: z
        .int(SECONDS)
        .min(LIMITS.minimumKeySeconds.value, SECONDS)
        .max(LIMITS.maximumKeySeconds.value, SECONDS)
        .default(DEFAULT_TTL_SECONDS)
        .openapi(documented(() => ({ description: TTL }))),
    })
    .openapi(
      documented(() => ({
        description: "The trust to create.",
        example: {
          name: "deploy workflow",
          issuer: EXAMPLE_ISSUER,
          audience: EXAMPLE_AUDIENCE,
          conditions: EXAMPLE_CONDITIONS,
          membership_id: EXAMPLE_IDS.membership,
          scopes: ["deployments:write"],
        },
      })),
    ),
);

/** The compact serialization (RFC 7515, section 3.1). An unsigned token has an empty last part. */
const COMPACT_JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const OVERLONG = `Send a token of at most ${LIMITS.exchangedTokenBytes.value} characters.`;
const EXAMPLE_JWT = documented(
  () => "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlLmNvbSJ9.c2lnbmF0dXJl",
);

export const ExchangeToken = component("ExchangeToken", () =>
  z
    .strictObject({
      org_id: identifierInput("organization").openapi(
        documented(() => ({
          description: "The organization that has the trust.",
        })),
      ),
      token: z
        .string()
        .max(LIMITS.exchangedTokenBytes.value, OVERLONG)
        .regex(COMPACT_JWT, MALFORMED)
        .openapi(
          documented(() => ({
            description:
              "The JSON Web Token of the CI job, signed with RS256 or ES256. Each is accepted once.",
            example: EXAMPLE_JWT,
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "The token to exchange.",
        example: { org_id: EXAMPLE_IDS.organization, token: EXAMPLE_JWT },
      })),
    ),
);

export const TrustParams = lazy(() =>
  z.object({
    ...idParam("org_id", "organization", "organization"),
    ...idParam("trust_id", "trust", "trust"),
  }),
);

function boundary(kind: ExampleKind) {
  return z
    .array(identifierInput(kind))
    .min(1, ID_COUNT)
    .max(LIMITS.keyBoundaries.value, ID_COUNT)
    .transform((ids) => [...new Set(ids)])
    .optional();
}
