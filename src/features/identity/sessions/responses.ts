import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { EXAMPLE_SECRETS } from "../../../lib/example-ids.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { SESSION_SOURCES } from "../credentials/model.ts";
import { SESSION_IDLE_MS, USE_INTERVAL_MS } from "./model.ts";

const SessionSource = component("SessionSource", () =>
  z.enum(SESSION_SOURCES).openapi({ description: "How the person signed in." }),
);

export const Session = component("Session", () =>
  z
    .object({
      id: identifierOf("session", "The session's own ID, which is also a part of its cookie."),
      source: SessionSource(),
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
    .openapi({ description: "A session of a person at a browser, without its secret." }),
);

export const SessionList = envelopeOf(Session, "SessionList");

export const MemberSession = component("MemberSession", () =>
  Session()
    .omit({ current: true, expires_at: true })
    .extend({
      expires_at: timestampOf(
        "The session ends at this time at the latest. Absent: ended.",
      ).optional(),
      ended_at: timestampOf(
        "When it ended. What was made in it stays, until the session is revoked with its descendants.",
      ).optional(),
    })
    .openapi({ description: "A session of a member, without its secret." }),
);

export const MemberSessionList = envelopeOf(MemberSession, "MemberSessionList");

export const SignInLink = component("SignInLink", () =>
  z
    .object({
      url: z.string().openapi({
        description: "The link, shown only once. It signs in once.",
        example: `https://longshore.example.com/sign-in/${EXAMPLE_SECRETS.signInLink}`,
      }),
      expires_at: timestampOf("The link does not sign in from this time on."),
    })
    .openapi({ description: "A new sign-in link. Only this response contains it." }),
);
