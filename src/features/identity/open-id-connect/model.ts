import {
  ApiError,
  BadInput,
  Conflict,
  NotConfigured,
  Unauthenticated,
  Unauthorized,
} from "../../../lib/errors.ts";

/** From the redirect to the identity provider until the callback, and from there until the choice. */
export const SIGN_IN_TTL_MS = 10 * 60_000;

export const CALLBACK_PATH = "/v1/sign-in/callback";

/** Where a person with several organizations, or with an invitation, chooses one. */
export const CHOICES_PATH = "/v1/sign-in/organizations";

/** What the browser must bring back, and what the provider must confirm. */
export interface SignInChallenge {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** A sign-in that waits for the callback, in an encrypted cookie of the browser that has started it. */
export interface PendingSignIn extends SignInChallenge {
  /** It succeeds at most once. */
  id: string;
  expiresAt: number;
  /** A path on this origin. */
  returnTo: string;
  /** The token of the invitation to accept. Absent: none. */
  invitation?: string;
}

/** A sign-in whose address is proven, and that waits for a choice, in an encrypted cookie. */
export interface ProvenSignIn extends Pick<PendingSignIn, "id" | "expiresAt" | "returnTo"> {
  /** The verified address, in lower case. */
  email: string;
}

export const NOT_CONFIGURED = new NotConfigured("sign-in with OpenID Connect", [
  "OIDC_ISSUER",
  "OIDC_CLIENT_ID",
  "OIDC_CLIENT_SECRET",
]);

export const PROVIDER_UNAVAILABLE = new ApiError(
  "timeout",
  "The identity provider does not respond as it should. Try again; if this persists, the operator finds " +
    "the reason in the log.",
);

/** The same for every callback that belongs to no sign-in of this browser. */
export const UNKNOWN_SIGN_IN = new BadInput([
  {
    path: "state",
    message:
      "This sign-in was started in another browser or more than 10 minutes ago, or has ended. Start again.",
  },
]);

export const PROVIDER_REFUSED = new Unauthenticated(
  "The identity provider has not signed you in, or its response is not valid. Start again.",
);

export const UNVERIFIED_ADDRESS = new Unauthorized(
  "The identity provider does not say that your e-mail address is verified. Verify it there, and start again.",
);

export const NO_ACCOUNT = new Unauthorized(
  "Your e-mail address has no account here. Ask an administrator for an invitation.",
);

export const CANNOT_DECLINE = new Conflict(
  "You cannot decline this membership: you have accepted it meanwhile, or the organization or one of its " +
    "projects has no other owner, or no other owner's key without an expiration date. Accept it, and " +
    "make another member owner.",
);

export const ONLY_OPEN_ID_CONNECT = new ApiError(
  "forbidden",
  "Only a session from OpenID Connect can switch between organizations: this one has the authority of " +
    "an API key. Sign in to the other organization.",
);
