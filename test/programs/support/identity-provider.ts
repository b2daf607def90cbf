import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

export const CLIENT = { id: "longshore", secret: "canary-secret-of-the-identity-provider" };

/** A certified identity provider on loopback. A person's login is the part of the address before the `@`. */
export class LocalIdentityProvider {
  readonly issuer: string;
  readonly #server: Server;

  private constructor(server: Server, issuer: string) {
    this.#server = server;
    this.issuer = issuer;
  }

  /** @param callbacks The redirect URIs of the client. */
  static async start(callbacks: string[]): Promise<LocalIdentityProvider> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
    const provider = new Provider(issuer, {
      clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: callbacks }],
      claims: { openid: ["sub"], email: ["email", "email_verified"] },
      conformIdTokenClaims: false,
      cookies: { keys: ["only for tests"] },
      pkce: { required: () => true },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => ({
          sub: id,
          email: `${id}@example.com`,
          email_verified: !id.startsWith("unverified"),
        }),
      }),
    });
    server.on("request", provider.callback());
    return new LocalIdentityProvider(server, issuer);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** A browser without scripts, which keeps the cookies of each origin apart. */
export class CookieBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** Follows redirects until one leads to `until`, whose URL it returns with the last response. */
  async open(
    target: URL,
    { until, body }: { until?: (url: URL) => boolean; body?: URLSearchParams } = {},
  ): Promise<{ url: URL; response: Response }> {
    let url = target;
    let form = body;
    for (;;) {
      const response = await this.#send(url, form);
      form = undefined;
      const location = response.headers.get("location");
      if (!location) return { url, response };
      url = new URL(location, url);
      if (until?.(url)) return { url, response };
    }
  }

  cookiesOf(origin: string): Map<string, string> {
    return this.#cookies.get(origin) ?? new Map();
  }

  async #send(url: URL, body: URLSearchParams | undefined): Promise<Response> {
    const cookies = this.cookiesOf(url.origin);
    this.#cookies.set(url.origin, cookies);
    const response = await fetch(url, {
      method: body ? "POST" : "GET",
      redirect: "manual",
      headers: {
        accept: "text/html",
        "sec-fetch-site": "same-origin",
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      },
      ...(body && { body }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  }
}

/** Logs in at the provider, consents, and returns the callback, which is not opened. */
export async function logIn(browser: CookieBrowser, start: URL, login: string): Promise<URL> {
  const isCallback = (url: URL) => url.pathname === "/v1/sign-in/callback";
  let { url } = await browser.open(start, { until: isCallback });
  for (const prompt of ["login", "consent"]) {
    if (isCallback(url)) break;
    const body = new URLSearchParams({ prompt, login, password: "any" });
    ({ url } = await browser.open(url, { until: isCallback, body }));
  }
  return url;
}
