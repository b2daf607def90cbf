import * as oauth from "oauth4webapi";
import type { Clock } from "../../../lib/clock.ts";
import { type Fetch, readResponseBody } from "../../../lib/fetch.ts";
import type { ProviderSettings } from "../../../lib/identity-provider.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { describeError, type Log } from "../../../lib/log.ts";
import { Email } from "../memberships/schemas.ts";
import {
  PROVIDER_REFUSED,
  PROVIDER_UNAVAILABLE,
  type SignInChallenge,
  UNVERIFIED_ADDRESS,
} from "./model.ts";

export const METADATA_TTL_MS = 600_000;
const ENTRA_HOST = "login.microsoftonline.com";

interface OutgoingRequest {
  method: string;
  headers: Record<string, string>;
  body?: URLSearchParams | undefined;
}

/** No response of the provider, or one that is not valid. */
class UnusableResponse extends Error {}

/**
 * An identity provider (OpenID Connect Core 1.0), as this isolate has cached its metadata. oauth4webapi keeps
 * the keys with the metadata, and reads them again after 5 minutes, or for an unknown key after one.
 */
export class IdentityProvider {
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  readonly #log: Log;
  #cached: { issuer: string; server: oauth.AuthorizationServer; freshUntil: number } | undefined;

  constructor({ fetch, clock, log }: { fetch: Fetch; clock: Clock; log: Log }) {
    this.#fetch = fetch;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * The URL at the provider that signs the person in, and returns to `redirectUri` with a code.
   * @throws ApiError `timeout` if the provider's metadata cannot be read.
   */
  async authorizationUrl(
    settings: ProviderSettings,
    redirectUri: string,
    { state, nonce, codeVerifier }: SignInChallenge,
  ): Promise<URL> {
    const server = await this.#metadata(settings);
    const url = URL.parse(server.authorization_endpoint ?? "");
    if (!url) throw this.#unavailable(new Error("There is no authorization_endpoint"));
    const parameters = {
      client_id: settings.clientId,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: "openid email",
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  }

  /**
   * The verified address of the person, in lower case, from the callback of the provider.
   * @throws ApiError if the provider refuses or does not respond, if its token is not valid for this
   * client and this sign-in, or if the address is not verified.
   */
  async readAddress(
    settings: ProviderSettings,
    { callback, redirectUri }: { callback: URL; redirectUri: string },
    challenge: SignInChallenge,
  ): Promise<string> {
    const server = await this.#metadata(settings);
    const claims = await this.#redeem(server, settings, { callback, redirectUri, challenge });
    const address = Email.safeParse(claims["email"]);
    if (!address.success || !isVerified(claims, settings)) throw UNVERIFIED_ADDRESS;
    return address.data;
  }

  async #redeem(
    server: oauth.AuthorizationServer,
    settings: ProviderSettings,
    sent: { callback: URL; redirectUri: string; challenge: SignInChallenge },
  ): Promise<AddressClaims> {
    const { state, nonce, codeVerifier } = sent.challenge;
    const client = this.#clientOf(settings);
    try {
      const parameters = oauth.validateAuthResponse(server, client, sent.callback, state);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authenticationOf(server, settings),
        parameters,
        sent.redirectUri,
        codeVerifier,
        this.#options(settings),
      );
      const expected = { expectedNonce: nonce, requireIdToken: true };
      const tokens = await oauth.processAuthorizationCodeResponse(
        server,
        client,
        response,
        expected,
      );
      await oauth.validateApplicationLevelSignature(server, response, this.#options(settings));
      const claims = oauth.getValidatedIdTokenClaims(tokens);
      if (!claims) throw new Error("There is no ID token");
      if (claims["email"] !== undefined || server.userinfo_endpoint === undefined) return claims;
      const { access_token } = tokens;
      const options = this.#options(settings);
      const information = await oauth.userInfoRequest(server, client, access_token, options);
      return await oauth.processUserInfoResponse(server, client, claims.sub, information);
    } catch (error) {
      // New keys may be known to the provider only: the next sign-in reads all again.
      this.#cached = undefined;
      if (error instanceof UnusableResponse) throw this.#unavailable(error);
      this.#log("info", "open_id_connect.refused", describeRefusal(error));
      throw PROVIDER_REFUSED;
    }
  }

  async #metadata(settings: ProviderSettings): Promise<oauth.AuthorizationServer> {
    const { issuer } = settings;
    const now = this.#clock.now();
    const cached = this.#cached;
    if (cached?.issuer === issuer.href && now < cached.freshUntil) return cached.server;
    try {
      const response = await oauth.discoveryRequest(issuer, this.#options(settings));
      const server = await oauth.processDiscoveryResponse(issuer, response);
      this.#cached = { issuer: issuer.href, server, freshUntil: now + METADATA_TTL_MS };
      return server;
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  #unavailable(error: unknown) {
    this.#log("error", "open_id_connect.unavailable", describeRefusal(error));
    return PROVIDER_UNAVAILABLE;
  }

  #clientOf({ clientId }: ProviderSettings): oauth.Client {
    // The library reads the clock of the system.
    const skewMs = this.#clock.now() - Date.now();
    return { client_id: clientId, [oauth.clockSkew]: Math.round(skewMs / 1000) };
  }

  #options({ issuer }: ProviderSettings) {
    return {
      [oauth.customFetch]: (url: string, init: OutgoingRequest) => this.#request(url, init),
      [oauth.allowInsecureRequests]: issuer.protocol === "http:",
    };
  }

  /** Follows no redirect, and bounds the time and the size of the response. */
  async #request(url: string, { method, headers, body }: OutgoingRequest): Promise<Response> {
    const signal = AbortSignal.timeout(LIMITS.issuerTimeoutMs.value);
    const init = { method, headers, body: body ?? null, redirect: "manual", signal } as const;
    const response = await this.#fetch(url, init).catch(() => undefined);
    if (!response) throw new UnusableResponse("It cannot be reached in time");
    const text = await readResponseBody(response, LIMITS.issuerResponseBytes.value, signal);
    if (text === undefined) throw new UnusableResponse("Its response is too large or incomplete");
    const { status } = response;
    const isRefusal = status >= 400 && status < 500;
    if (status !== 200 && !isRefusal) throw new UnusableResponse(`It responds with ${status}`);
    const type = response.headers.get("content-type") ?? "";
    return new Response(text, { status, headers: { "content-type": type } });
  }
}

/** Of the ID token or, where it has no address, of the UserInfo endpoint (OpenID Connect Core 1.0, 5.3). */
type AddressClaims = Readonly<Record<string, unknown>>;

/** Entra has no `email_verified`: it says whether the tenant has verified that it owns the domain. */
function isVerified(
  { email_verified, xms_edov }: AddressClaims,
  { issuer }: ProviderSettings,
): boolean {
  if (issuer.hostname !== ENTRA_HOST || email_verified !== undefined)
    return email_verified === true;
  return xms_edov === true || xms_edov === 1;
}

/** `client_secret_basic` is the default of OpenID Connect Discovery 1.0. */
function authenticationOf(
  {
    token_endpoint_auth_methods_supported: methods = ["client_secret_basic"],
  }: oauth.AuthorizationServer,
  { clientSecret }: ProviderSettings,
): oauth.ClientAuth {
  return methods.includes("client_secret_basic")
    ? oauth.ClientSecretBasic(clientSecret)
    : oauth.ClientSecretPost(clientSecret);
}

/** Without the text of the provider, which may be hostile, or contain what it was sent. */
function describeRefusal(error: unknown) {
  if (
    error instanceof oauth.ResponseBodyError ||
    error instanceof oauth.AuthorizationResponseError
  ) {
    return { reason: error.code };
  }
  if (error instanceof oauth.OperationProcessingError)
    return { reason: error.code ?? error.message };
  return describeError(error);
}
