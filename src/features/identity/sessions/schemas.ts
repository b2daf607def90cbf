import { z } from "@hono/zod-openapi";
import { SIGN_IN_TOKEN_PATTERN } from "../../../auth/credentials.ts";
import { envelopeOf, ListQuery } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { EXAMPLE_SECRETS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { identifierOf, text, timestampOf } from "../../../lib/schemas.ts";
import { SESSION_SOURCES } from "../credentials/model.ts";
import { SESSION_IDLE_MS, SESSION_STATUSES, USE_INTERVAL_MS } from "./model.ts";

// The checksum is wrong, so that the service refuses it.
const SessionStatus = z.enum(SESSION_STATUSES).openapi("SessionStatus", {
  description: "Default: `active`. Sessions that have ended are listed as long as the audit log.",
});

export const MemberSessionsQuery = ListQuery.extend({ status: SessionStatus.optional() });

export const CreateSession = z
  .strictObject({
    api_key: text(LIMITS.apiKeyLength.value).openapi({
      description: "An API key. The session has its role, scopes and boundaries.",
      example: EXAMPLE_SECRETS.apiKey,
    }),
  })
  .openapi("CreateSession", {
    description: "What to sign in with.",
    example: { api_key: EXAMPLE_SECRETS.apiKey },
  });

export const SessionParams = z.object(idParam("session_id", "session", "session"));

export const MemberSessionsParams = z.object({
  ...idParam("org_id", "organization", "organization"),
  ...idParam("member_id", "membership", "membership"),
});

export const MemberSessionParams = MemberSessionsParams.extend(
  idParam("member_session_id", "session", "session"),
);

/** Any text: a token that is no token gets the same answer as one that was used. */
export const SignInLinkParams = z.object({
  token: z.string().openapi({
    param: { name: "token", in: "path" },
    description: `The token of the link: \`${SIGN_IN_TOKEN_PATTERN.source}\`.`,
    example: EXAMPLE_SECRETS.signInLink,
  }),
});

const SessionSource = z
  .enum(SESSION_SOURCES)
  .openapi("SessionSource", { description: "How the person signed in." });

export const Session = z
  .object({
    id: identifierOf("session", "The session's own ID, which is also a part of its cookie."),
    source: SessionSource,
    key_id: identifierOf(
      "apiKey",
      "The key whose role, scopes and boundaries it has. It ends with this key. Absent for a session " +
        "from OpenID Connect, which may do what the membership may.",
    ).optional(),
    user_agent: z.string().optional().openapi({
      description: "The browser that signed in. Absent: not known.",
      example:
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0",
    }),
    current: z.boolean().openapi({ description: "Whether it is the session of this request." }),
    expires_at: timestampOf(
      `The session ends at this time at the latest, and ${durationOf(SESSION_IDLE_MS)} after its last use.`,
    ),
    last_used_at: timestampOf(
      `The time of the last use, to ${durationOf(USE_INTERVAL_MS)}. Absent: not used yet.`,
    ).optional(),
    created_at: timestampOf("When the person signed in."),
  })
  .openapi("Session", { description: "A session of a person at a browser, without its secret." });

export const SessionList = envelopeOf(Session, "SessionList");

export const MemberSession = Session.omit({ current: true, expires_at: true })
  .extend({
    expires_at: timestampOf(
      "The session ends at this time at the latest. Absent: ended.",
    ).optional(),
    ended_at: timestampOf(
      "When it ended. What was made in it stays, until the session is revoked with its descendants.",
    ).optional(),
  })
  .openapi("MemberSession", { description: "A session of a member, without its secret." });

export const MemberSessionList = envelopeOf(MemberSession, "MemberSessionList");

export const SignInLink = z
  .object({
    url: z.string().openapi({
      description: "The link, shown only once. It signs in once.",
      example: `https://longshore.example.com/sign-in/${EXAMPLE_SECRETS.signInLink}`,
    }),
    expires_at: timestampOf("The link does not sign in from this time on."),
  })
  .openapi("SignInLink", { description: "A new sign-in link. Only this response contains it." });
