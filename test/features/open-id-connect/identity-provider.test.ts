import { beforeAll, describe, expect, it } from "vitest";
import { Browser, expectRefused, TestIdentityProvider } from "../../support/identity-provider.ts";
import { addressOf, newWorld, type World } from "../../support/world.ts";

let world: World;
let email: string;

beforeAll(async () => {
  world = await newWorld();
  email = await addressOf(world);
});

describe("an identity provider", () => {
  const FAULTS: Record<string, () => Response | Promise<Response>> = {
    "responds with HTML": () =>
      new Response("<html>", { headers: { "content-type": "text/html" } }),
    "responds with 500": () => new Response("{}", { status: 500 }),
    redirects: () =>
      new Response(null, { status: 302, headers: { location: "https://evil.example" } }),
    "responds with a huge document": () => Response.json({ issuer: "x".repeat(300_000) }),
    "names another issuer": () => Response.json({ issuer: "https://evil.example.com" }),
    "cannot be reached": () => Promise.reject(new Error("unreachable")),
    "responds with an array": () => Response.json([]),
    "responds slowly, without an end": () =>
      new Response(new ReadableStream(), { headers: { "content-type": "application/json" } }),
  };

  it.concurrent.each(Object.entries(FAULTS))(
    "that %s starts no sign-in, and is asked again",
    async (_, fault) => {
      const own = await TestIdentityProvider.create();
      const browser = new Browser(own);
      own.answers.set("/.well-known/openid-configuration", fault);
      await expectRefused(
        browser,
        await browser.open("/sign-in"),
        408,
        "does not respond as it should",
      );
      own.answers.clear();
      expect((await browser.signIn(own, email)).status).toBe(303);
    },
  );

  it.concurrent.each(Object.entries(FAULTS).filter(([name]) => name !== "names another issuer"))(
    "that %s when it is asked for the token signs nobody in",
    async (_, fault) => {
      const own = await TestIdentityProvider.create();
      const browser = new Browser(own);
      own.answers.set("/token", fault);
      expect([401, 408]).toContain((await browser.signIn(own, email)).status);
      expect(browser.session).toBe("");
    },
  );

  it("may replace its keys between two sign-ins", async () => {
    const own = await TestIdentityProvider.create();
    const first = new Browser(own);
    expect((await first.signIn(own, email)).status).toBe(303);
    await own.rotate();
    const statuses = [];
    for (const _ of [1, 2]) statuses.push((await first.signIn(own, email)).status);
    expect(statuses).toEqual([401, 303]);
  });

  it("is asked for its metadata and keys once for several sign-ins", async () => {
    const own = await TestIdentityProvider.create();
    const browser = new Browser(own);
    for (const _ of [1, 2, 3]) await browser.signIn(own, email);
    const paths = own.requests.map(({ url }) => new URL(url).pathname);
    expect(paths.filter((path) => path !== "/token")).toEqual([
      "/.well-known/openid-configuration",
      "/keys",
    ]);
  });

  it("receives the client's secret only at the token endpoint", async () => {
    const own = await TestIdentityProvider.create();
    await new Browser(own).signIn(own, email);
    const withSecret = own.requests.filter(({ init }) => {
      return new Headers(init.headers).has("authorization") || String(init.body).includes("canary");
    });
    expect(withSecret.map(({ url }) => url)).toEqual(["https://id.example.com/token"]);
  });
});
