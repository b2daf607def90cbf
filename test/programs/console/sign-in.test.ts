import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { findFreePort } from "../../../scripts/lib/port.ts";
import { findViolations } from "../support/axe.ts";
import { openBrowser } from "../support/browser.ts";
import { measureOverflow, NARROW, WIDE } from "../support/console.ts";
import {
  CLIENT,
  CookieBrowser,
  LocalIdentityProvider,
  logIn,
} from "../support/identity-provider.ts";
import { ApiClient, type Parsed, type Service, startService } from "../support/service.ts";

describe("a sign-in at a certified identity provider", () => {
  let provider: LocalIdentityProvider;
  let service: Service;
  let chromium: Browser;

  beforeAll(async () => {
    chromium = await openBrowser();
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

  const at = (path: string) => new URL(path, `http://localhost:${service.pages.port}`);

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
    const port = service.pages.port;
    expect([...browser.cookiesOf(at("/").origin).keys()]).toEqual([`longshore-${port}`]);
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

  describe("of a person with many organizations", () => {
    const CHOICES = "/v1/sign-in/organizations";
    const HOSTILE = `<b>x</b> ${"wide".repeat(22)}`;
    const COUNT = 21;
    const OF_FIRST = "Project of the first organization";
    const OF_FOUNDED = "Project of Founded 1";

    /** The person who bootstrapped the installation founds them, and invites another person. */
    beforeAll(async () => {
      for (let number = 1; number <= COUNT; number += 1) {
        const name = number === COUNT ? HOSTILE : `Founded ${number}`;
        const { id, api_key } = await service.owner.call("POST", "/v1/orgs", { name });
        const owner = new ApiClient(at("/"), api_key.key);
        if (number === 1) await owner.call("POST", "/v1/projects", { name: OF_FOUNDED });
        const body = { email: "zoe@example.com", role: "member" };
        await owner.call("POST", `/v1/orgs/${id}/invitations`, body);
      }
      await invite("zoe", "admin");
    });

    /** A page in a browser with the cookies of a sign-in. */
    const openWith = async (
      { cookiesOf }: Pick<CookieBrowser, "cookiesOf">,
      path: string,
      options: BrowserContextOptions = {},
    ) => {
      const context = await chromium.newContext({
        viewport: WIDE,
        reducedMotion: "reduce",
        ...options,
      });
      onTestFinished(() => context.close());
      const url = at("/").origin;
      await context.addCookies(
        [...cookiesOf(url)].map(([name, value]) => ({ name, value, url, httpOnly: true })),
      );
      const page = await context.newPage();
      await page.goto(at(path).href);
      return page;
    };

    const openChoices = async (login: string, options: BrowserContextOptions = {}) => {
      const browser = new CookieBrowser();
      const response = await signIn(browser, login);
      expect(new URL(response.headers.get("location") ?? "", at("/")).pathname).toBe(CHOICES);
      return openWith({ cookiesOf: (url) => browser.cookiesOf(url) }, CHOICES, options);
    };

    const headings = (page: Page) => page.getByRole("heading", { level: 3 }).allTextContents();

    const readOrganization = async (page: Page) => {
      const response = await page.request.get(at("/v1/whoami").href);
      return (await response.json()).organization.name;
    };

    it("shows a page that is accessible, light and dark, wide and narrow", async () => {
      const page = await openChoices("zoe");
      expect(await headings(page)).toHaveLength(20);
      await page.getByRole("link", { name: "Show more" }).click();
      await page.getByRole("link", { name: "Back" }).waitFor();
      expect(await headings(page)).toHaveLength(2);
      await page.getByRole("link", { name: "Back" }).click();
      await page.getByText("widewide").waitFor();
      const violations: unknown[] = [];
      for (const [colorScheme, size] of [
        ["light", WIDE],
        ["dark", NARROW],
        ["light", NARROW],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(size);
        violations.push(...(await findViolations(page)));
        expect(await measureOverflow(page)).toBeLessThanOrEqual(0);
      }
      expect(violations).toEqual([]);
      expect(await page.locator("b").count()).toBe(0);
    });

    it("works without JavaScript: declines an invitation, and accepts another", async () => {
      const page = await openChoices("zoe", { javaScriptEnabled: false });
      const item = (text: string) => page.getByRole("listitem").filter({ hasText: text });
      await item("widewide").getByRole("button", { name: "Decline" }).click();
      await page.getByText("Founded 2", { exact: true }).waitFor();
      expect(new URL(page.url()).pathname).toBe(CHOICES);
      expect(await item("widewide").count()).toBe(0);
      await item("Founded 20").getByRole("button", { name: "Accept" }).click();
      await page.waitForURL(/\/console\//);
      expect(await readOrganization(page)).toBe("Founded 20");
      const [first] = await headings(await openChoices("zoe"));
      expect(first).toMatch(/Founded 20\s+Used last/);
    });

    it("lets the console switch to every one of them", async () => {
      const browser = new CookieBrowser();
      await signIn(browser, "me");
      const body = new URLSearchParams();
      const choice = at(`${CHOICES}/${service.organizationId}`);
      await browser.open(choice, { until: () => true, body });
      const cookiesOf = (url: string) => browser.cookiesOf(url);
      await service.owner.call("POST", "/v1/projects", { name: OF_FIRST });
      const page = await openWith({ cookiesOf }, "/console/");
      await page.getByRole("link", { name: OF_FIRST }).waitFor();
      await page.getByRole("button", { name: "·" }).click();
      const dialog = page.getByRole("dialog", { name: "You" });
      await dialog.getByRole("button", { name: "Founded 20 (" }).waitFor();
      expect(await dialog.getByRole("button", { name: "Founded 1 (" }).count()).toBe(0);
      await dialog.getByRole("button", { name: "Load more organizations" }).click();
      const released = Promise.withResolvers<void>();
      await page.route(/\/v1\/projects(\?|$)/, (route) =>
        released.promise.then(() => route.continue()),
      );
      await dialog.getByRole("button", { name: "Founded 1 (" }).click();
      await page.getByRole("button", { name: "Founded 1 ·" }).waitFor();
      // Before the new list arrives, nothing of the old one is left.
      await page.locator("main [aria-busy=true]").waitFor();
      expect(await page.getByText(OF_FIRST).count()).toBe(0);
      released.resolve();
      await page.getByRole("link", { name: OF_FOUNDED }).waitFor();
      expect(await page.getByText(OF_FIRST).count()).toBe(0);
      expect(await readOrganization(page)).toBe("Founded 1");
    });
  });
});
