import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import type { Fetch } from "../../src/lib/fetch.ts";
import { CANARY_PREFIX } from "./canary-secrets.ts";

export const ISSUER = "https://ci.issuer.dev";
export const AUDIENCE = "https://longshore.example.com";

/** The claims of the example in docs/ci.md, as GitHub sends them. */
export const GITHUB_CLAIMS = {
  sub: "repo:octo-org/octo-repo:environment:production",
  environment: "production",
  repository: "octo-org/octo-repo",
  repository_id: "74",
  repository_owner: "octo-org",
  repository_owner_id: "65",
  ref: "refs/heads/main",
  ref_type: "branch",
  event_name: "push",
  run_id: "example-run-id",
  runner_environment: "github-hosted",
  job_workflow_ref: "octo-org/octo-repo/.github/workflows/deploy.yml@refs/heads/main",
};

type Algorithm = "RS256" | "ES256";
type Answer = (init: RequestInit) => Response | Promise<Response>;

interface SigningKey {
  kid: string;
  algorithm: Algorithm;
  privateKey: CryptoKey;
  jwk: JWK;
}

/** An issuer of tokens, behind the network of an app. */
export class Issuer {
  readonly requests: { url: string; init: RequestInit }[] = [];
  /** Instead of the answers of the issuer, by the path. */
  readonly answers = new Map<string, Answer>();
  #key: SigningKey;
  #published: JWK[];

  private constructor(key: SigningKey) {
    this.#key = key;
    this.#published = [key.jwk];
  }

  static async create(algorithm: Algorithm = "ES256"): Promise<Issuer> {
    return new Issuer(await newSigningKey(algorithm));
  }

  get jwk(): JWK {
    return this.#key.jwk;
  }

  /** Signs with a new key from now on, which replaces the old one. */
  async rotate(): Promise<void> {
    this.#key = await newSigningKey(this.#key.algorithm);
    this.#published = [this.#key.jwk];
  }

  readonly fetch: Fetch = async (url, init) => {
    this.requests.push({ url, init });
    const { origin, pathname } = new URL(url);
    const answer = this.answers.get(pathname);
    if (answer) return answer(init);
    if (origin !== ISSUER) return new Response("not the issuer", { status: 404 });
    if (pathname === "/.well-known/openid-configuration") {
      return Response.json({ issuer: ISSUER, jwks_uri: `${ISSUER}/keys` });
    }
    return Response.json({ keys: this.#published });
  };

  /** A token with the claims of GitHub, and a canary as its `jti`. */
  async sign(
    claims: object = {},
    { now = Date.now(), header = {} }: { now?: number; header?: object } = {},
  ): Promise<string> {
    const seconds = Math.floor(now / 1000);
    const times = { iat: seconds, nbf: seconds, exp: seconds + 300 };
    const jti = `${CANARY_PREFIX}${crypto.randomUUID()}`;
    const { algorithm: alg, kid, privateKey } = this.#key;
    return new SignJWT({ iss: ISSUER, aud: AUDIENCE, jti, ...times, ...GITHUB_CLAIMS, ...claims })
      .setProtectedHeader({ alg, kid, typ: "JWT", ...header })
      .sign(privateKey);
  }
}

export async function newSigningKey(algorithm: Algorithm): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const kid = crypto.randomUUID();
  return { kid, algorithm, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: "sig" } };
}
