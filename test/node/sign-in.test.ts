import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../../scripts/lib/port.ts";
import {
  CLIENT,
  CookieBrowser,
  LocalIdentityProvider,
  logIn,
} from "./support/identity-provider.ts";
import { type Parsed, type Service, startService } from "./support/service.ts";

describe("a sign-in at a certified identity provider", () => {
  let provider: LocalIdentityProvider;
  let service: Service;

  beforeAll(async () => {
    const port = await findFreePort();
    const callbacks = [`http://localhost:${port}/v1/sign-in/callback`];
    provider = await LocalIdentityProvider.start(callbacks);
    service = await startService(
      {
        ALLOW_INSECURE_WEBHOOKS: "true",
        TRUST_ADMINS: "false",
        ALLOW_NEW_ORGANIZATIONS: "true",
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: CLIENT.id,
        OIDC_CLIENT_SECRET: CLIENT.secret,
      },
      undefined,
      port,
    );
  });

  afterAll(async () => {
    await service.stop();
    provider.stop();
  });

  const at = (path: string) => new URL(path, `http://localhost:${service.url.port}`);

  /** Sends a request with the cookie of the session. */
  const callAs = async (browser: CookieBrowser, path: string, method = "GET"): Promise<Parsed> => {
    const cookies = browser.cookiesOf(at("/").origin);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { cookie, "sec-fetch-site": "same-origin" };
    const response = await fetch(at(path), { method, headers });
    return { status: response.status, body: await response.json() };
  };

  /** The whole flow. Returns the response to the callback. */
  const signIn = async (browser: CookieBrowser, login: string, path = "/sign-in") => {
    const callback = await logIn(browser, at(path), login);
    const { response } = await browser.open(callback, { until: () => true });
    return response;
  };

  const invite = (login: string, role: string) =>
    service.owner.call("POST", `/v1/orgs/${service.organizationId}/invitations`, {
      email: `${login}@example.com`,
      role,
    });

  it("signs in the person who bootstrapped the installation, as its owner", async () => {
    const browser = new CookieBrowser();
    expect((await signIn(browser, "me")).status).toBe(303);
    const { body } = await callAs(browser, "/v1/whoami");
    expect(body).toMatchObject({
      organization: { id: service.organizationId },
      credential: { type: "session", role: "owner" },
    });
    const port = service.url.port;
    expect([...browser.cookiesOf(at("/").origin).keys()]).toEqual([`longshore-${port}`]);
  });

  it("accepts an invitation of the person, and of nobody else", async () => {
    const { url } = await invite("grace", "member");
    const page = await (await fetch(at(new URL(url).pathname))).text();
    const [, path = ""] = /href="(\/sign-in\?[^"]+)"/.exec(page) ?? [];
    const other = new CookieBrowser();
    const refused = await signIn(other, "mallory", path);
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining("for another e-mail address"),
    ]);
    const browser = new CookieBrowser();
    expect((await signIn(browser, "grace", path)).status).toBe(303);
    const { body } = await callAs(browser, "/v1/whoami");
    expect(body.membership.role).toBe("member");
    expect((await callAs(browser, "/v1/projects")).status).toBe(200);
    const again = new CookieBrowser();
    expect((await signIn(again, "grace")).status).toBe(303);
  });

  it("refuses people without an account, and addresses that are not verified", async () => {
    await invite("unverified-ada", "member");
    const refusals = [
      ["nobody", "has no account here"],
      ["unverified-ada", "verified"],
    ] as const;
    for (const [login, text] of refusals) {
      const browser = new CookieBrowser();
      const response = await signIn(browser, login);
      expect([response.status, await response.text()]).toEqual([
        403,
        expect.stringContaining(text),
      ]);
      expect((await callAs(browser, "/v1/whoami")).status).toBe(401);
    }
  });

  it("refuses a code that was used, and a callback of another browser", async () => {
    const [browser, other] = [new CookieBrowser(), new CookieBrowser()];
    const callback = await logIn(browser, at("/sign-in"), "me");
    const stolen = await other.open(callback);
    expect(stolen.response.status).toBe(400);
    expect((await browser.open(callback, { until: () => true })).response.status).toBe(303);
    expect((await browser.open(callback)).response.status).toBe(400);
    expect((await callAs(browser, "/v1/whoami")).status).toBe(200);
  });

  it("switches between the organizations of the person", async () => {
    const browser = new CookieBrowser();
    await signIn(browser, "me");
    const { id } = await service.owner
      .call("POST", "/v1/orgs", { name: "Second" })
      .then(({ organization, ...rest }: Parsed) => organization ?? rest);
    const { body } = await callAs(browser, "/v1/sessions/current/organizations");
    expect(body.data.map((each: Parsed) => each.id)).toEqual([service.organizationId, id]);
    const switched = await callAs(browser, `/v1/sessions/current/organizations/${id}`, "PUT");
    expect(switched.status).toBe(200);
  });
});
