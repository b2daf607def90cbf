import { z } from "@hono/zod-openapi";
import { documented, EXAMPLE_SECRETS } from "#documented";
import { SIGN_IN_TOKEN_PATTERN } from "../../../auth/credentials.ts";
import { ListQuery } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { component, text } from "../../../lib/schemas.ts";
import { SESSION_STATUSES } from "./model.ts";

// The checksum is wrong, so that the service refuses it.
const SessionStatus = component("SessionStatus", () =>
  z.enum(SESSION_STATUSES).openapi(
    documented(() => ({
      description:
        "Default: `active`. Sessions that have ended are listed as long as the audit log.",
    })),
  ),
);

export const MemberSessionsQuery = lazy(() =>
  ListQuery().extend({ status: SessionStatus().optional() }),
);

export const CreateSession = component("CreateSession", () =>
  z
    .strictObject({
      api_key: text(LIMITS.apiKeyLength.value).openapi(
        documented(() => ({
          description: "An API key. The session has its role, scopes and boundaries.",
          example: EXAMPLE_SECRETS.apiKey,
        })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "What to sign in with.",
        example: { api_key: EXAMPLE_SECRETS.apiKey },
      })),
    ),
);

export const SessionParams = lazy(() => z.object(idParam("session_id", "session", "session")));

export const MemberSessionsParams = lazy(() =>
  z.object({
    ...idParam("org_id", "organization", "organization"),
    ...idParam("member_id", "membership", "membership"),
  }),
);

export const MemberSessionParams = lazy(() =>
  MemberSessionsParams().extend(idParam("member_session_id", "session", "session")),
);

/** Any text: a token that is no token gets the same answer as one that was used. */
export const SignInLinkParams = lazy(() =>
  z.object({
    token: z.string().openapi(
      documented(() => ({
        param: { name: "token", in: "path" },
        description: `The token of the link: \`${SIGN_IN_TOKEN_PATTERN.source}\`.`,
        example: EXAMPLE_SECRETS.signInLink,
      })),
    ),
  }),
);
