import { base64url, SignJWT } from "jose";
import { expect } from "vitest";
import type { Clock } from "../../src/lib/clock.ts";
import { Client } from "./client.ts";
import { Instrumented } from "./instruments.ts";
import { newSigningKey } from "./issuer.ts";

export const PROVIDER = "https://id.example.com";
const SERVICE = "https://longshore.test";

type SigningKey = Awaited<ReturnType<typeof newSigningKey>>;

/** What a person at the provider is, or what the provider wrongly says. */
interface Answers {
  claims?: object;
  header?: object;
  signedBy?: SigningKey;
}

/** A provider whose responses a test can falsify. It issues a code for each authorization, once. */
export class TestIdentityProvider {
  readonly requests: { url: string; init: RequestInit }[] = [];
  /** Instead of its own responses, by the path. */
  readonly answers = new Map<string, () => Response | Promise<Response>>();
  /** What the UserInfo endpoint responds with. Undefined: there is none. */
  userInfo: object | undefined;
  readonly issuer: string;
  readonly #codes = new Map<string, { url: URL; answers: Answers }>();
  #key: SigningKey;

  private constructor(key: SigningKey, issuer: string) {
    this.#key = key;
    this.issuer = issuer;
  }

  static async create(issuer = PROVIDER): Promise<TestIdentityProvider> {
    return new TestIdentityProvider(await newSigningKey("RS256"), issuer);
  }

  /** Signs with a new key from now on, which replaces the published one. */
  async rotate(): Promise<void> {
    this.#key = await newSigningKey("RS256");
  }

  /** The person signs in at the URL that the service has redirected to. Returns the callback. */
  authorize(location: string, answers: Answers = {}): URL {
    const url = new URL(location);
    const code = crypto.randomUUID();
    this.#codes.set(code, { url, answers });
    const callback = new URL(url.searchParams.get("redirect_uri") ?? "");
    callback.searchParams.set("code", code);
    callback.searchParams.set("state", url.searchParams.get("state") ?? "");
    return callback;
  }

  readonly fetch = async (text: string, init: RequestInit): Promise<Response> => {
    this.requests.push({ url: text, init });
    const { pathname } = new URL(text);
    const answer = this.answers.get(pathname);
    if (answer) return answer();
    if (pathname.endsWith("/.well-known/openid-configuration")) {
      return Response.json({
        issuer: this.issuer,
        ...(this.userInfo && { userinfo_endpoint: `${PROVIDER}/userinfo` }),
        authorization_endpoint: `${PROVIDER}/authorize`,
        token_endpoint: `${PROVIDER}/token`,
        jwks_uri: `${PROVIDER}/keys`,
      });
    }
    if (pathname === "/userinfo") return Response.json(this.userInfo);
    if (pathname === "/keys") return Response.json({ keys: [this.#key.jwk] });
    return this.#redeem(new URLSearchParams(String(init.body)));
  };

  async #redeem(body: URLSearchParams): Promise<Response> {
    const issued = this.#codes.get(body.get("code") ?? "");
    this.#codes.delete(body.get("code") ?? "");
    const challenge = await challengeOf(body.get("code_verifier") ?? "");
    const { searchParams } = issued?.url ?? {};
    const isValid =
      searchParams?.get("code_challenge") === challenge &&
      searchParams.get("redirect_uri") === body.get("redirect_uri");
    if (!issued || !isValid) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const { claims = {}, header = {}, signedBy = this.#key } = issued.answers;
    const seconds = Math.floor(Date.now() / 1000);
    const payload = {
      iss: this.issuer,
      aud: "longshore",
      sub: "person-1",
      iat: seconds,
      exp: seconds + 300,
      nonce: searchParams?.get("nonce"),
      email_verified: true,
      ...claims,
    };
    const token = new SignJWT(payload).setProtectedHeader({
      alg: signedBy.algorithm,
      kid: signedBy.kid,
      ...header,
    });
    const id_token = await token.sign(signedBy.privateKey);
    return Response.json({ access_token: "unused", token_type: "Bearer", id_token });
  }
}

/** The PKCE challenge `S256` (RFC 7636). */
async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64url.encode(new Uint8Array(digest));
}

/** A browser at the service, which keeps its cookies. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly isolate: Instrumented;

  constructor(
    provider: TestIdentityProvider,
    options: { clock?: Clock; settings?: Record<string, string> } = {},
  ) {
    this.isolate = new Instrumented({ network: provider.fetch, ...options });
  }

  /** Follows no redirect. */
  async open(target: string | URL, method = "GET"): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const request = new Request(new URL(target, SERVICE), {
      method,
      redirect: "manual",
      headers: {
        accept: "text/html",
        "sec-fetch-site": "same-origin",
        "cf-connecting-ip": `192.0.2.${crypto.randomUUID()}`,
        ...(cookie && { cookie }),
      },
    });
    const response = await this.isolate.fetch(request);
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** Signs in to the callback, and returns its response. */
  async signIn(
    provider: TestIdentityProvider,
    email: string,
    { path = "/sign-in", ...answers }: Answers & { path?: string } = {},
  ): Promise<Response> {
    const { headers } = await this.open(path);
    const claims = { email, ...answers.claims };
    return this.open(provider.authorize(headers.get("location") ?? "", { ...answers, claims }));
  }

  /** Signs in, and chooses an organization on the page that follows. Returns the last response. */
  async signInTo(
    provider: TestIdentityProvider,
    email: string,
    organizationId: string,
  ): Promise<Response> {
    await this.signIn(provider, email);
    return this.open(`/v1/sign-in/organizations/${organizationId}`, "POST");
  }

  get session(): string {
    return this.cookies.get("__Host-longshore") ?? "";
  }
}

/** Sends requests with the session of a browser. */
export const clientOf = (browser: Browser) => Client.withSession(browser.session);

/** That a page refuses, that nobody is signed in, and that the sign-in is over. */
export async function expectRefused(
  browser: Browser,
  response: Response,
  status: number,
  text: string,
) {
  const page = await response.text();
  expect([response.status, page]).toEqual([status, expect.stringContaining(text)]);
  expect(page).toContain("<h1>You are not signed in</h1>");
  expect(browser.session).toBe("");
  expect([...browser.cookies.keys()]).toEqual([]);
}
