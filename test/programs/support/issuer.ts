import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

const REQUEST_SECRET = "the secret of the job";

/** An issuer of tokens on this machine, which gives them to jobs as GitHub Actions does. */
export class LocalIssuer {
  /** The tokens that jobs have received. */
  readonly tokens: string[] = [];
  readonly #privateKey: CryptoKey;
  readonly #jwk: JWK;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  private constructor(privateKey: CryptoKey, jwk: JWK) {
    this.#privateKey = privateKey;
    this.#jwk = jwk;
  }

  static async start(): Promise<LocalIssuer> {
    const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid: randomUUID(), use: "sig", alg: "RS256" };
    const issuer = new LocalIssuer(privateKey, jwk);
    issuer.#server.listen(0, "127.0.0.1");
    await once(issuer.#server, "listening");
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What a job of GitHub Actions has in its environment. */
  get jobEnvironment(): Record<string, string> {
    return {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${this.url}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: REQUEST_SECRET,
    };
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async sign(audience: string): Promise<string> {
    const token = await new SignJWT({ environment: "production", repository_id: "74" })
      .setProtectedHeader({ alg: "RS256", kid: String(this.#jwk.kid) })
      .setIssuer(this.url)
      .setAudience(audience)
      .setSubject("repo:octo-org/octo-repo:environment:production")
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime("5 minutes")
      .sign(this.#privateKey);
    this.tokens.push(token);
    return token;
  }

  async #answer({ url = "", headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(url, this.url);
    const send = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (pathname === "/.well-known/openid-configuration") {
      return send(200, { issuer: this.url, jwks_uri: `${this.url}/keys` });
    }
    if (pathname === "/keys") return send(200, { keys: [this.#jwk] });
    if (headers.authorization !== `Bearer ${REQUEST_SECRET}`) return send(401, {});
    send(200, { value: await this.sign(searchParams.get("audience") ?? "") });
  }
}
