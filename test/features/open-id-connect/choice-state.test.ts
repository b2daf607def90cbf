import { beforeAll, describe, expect, it } from "vitest";
import { Browser, TestIdentityProvider } from "../../support/identity-provider.ts";
import {
  accept,
  add,
  CHOICE_COOKIE,
  CHOICE_PAGE,
  countSessions,
  decline,
  expectRefused,
  isMember,
  openPage,
  shownIn,
  signInToPage,
} from "../../support/organization-choice.ts";
import { newEmail, newInvitation, newWorld, type World } from "../../support/world.ts";

let provider: TestIdentityProvider;
/** An organization of strangers to most addresses. */
let corp: World;

beforeAll(async () => {
  provider = await TestIdentityProvider.create();
  corp = await newWorld();
});

describe("the state of a choice", () => {
  let email: string;
  let own: World;
  let other: World;

  beforeAll(async () => {
    email = newEmail();
    [own, other] = [await newWorld(), await newWorld()];
    for (const world of [own, other]) await newInvitation(world, { email });
  });

  const attempts = (browser: Browser) =>
    [
      () => browser.open(CHOICE_PAGE),
      () => accept(browser, own),
      () => decline(browser, own),
    ] as const;

  async function expectUnknown(browser: Browser): Promise<void> {
    for (const attempt of attempts(browser)) {
      const response = await attempt();
      await expectRefused(response, 400, "Start again");
      expect(browser.session).toBe("");
    }
  }

  it("is in the cookie of one browser, and opens nothing if it is absent, altered, repeated or of another kind", async () => {
    await expectUnknown(new Browser(provider));
    const browser = await signInToPage(provider, email);
    const sealed = String(browser.cookies.get(CHOICE_COOKIE));
    const pending = new Browser(provider);
    await pending.open("/sign-in");
    const ofPending = String(pending.cookies.get("__Host-longshore-sign-in"));
    for (const [name, value] of [
      [CHOICE_COOKIE, sealed.slice(0, -4) + (sealed.endsWith("AAAA") ? "BBBB" : "AAAA")],
      [CHOICE_COOKIE, `${sealed}; ${CHOICE_COOKIE}=${sealed}`],
      [CHOICE_COOKIE, ofPending],
      ["longshore-choice-8787", sealed],
    ] as const) {
      const thief = new Browser(provider);
      thief.cookies.set(name, value);
      await expectUnknown(thief);
    }
    expect(atob(sealed.split(".")[2] ?? "")).not.toContain(email);
    expect(shownIn(await openPage(browser)).toSorted()).toEqual([own.id, other.id].toSorted());
  });

  it("is no state of a sign-in that waits for the callback", async () => {
    const browser = await signInToPage(provider, email);
    const { headers } = await browser.open("/sign-in");
    browser.cookies.set("__Host-longshore-sign-in", String(browser.cookies.get(CHOICE_COOKIE)));
    const callback = provider.authorize(headers.get("location") ?? "", { claims: { email } });
    expect((await browser.open(callback)).status).toBe(400);
    expect(browser.session).toBe("");
  });

  it("ends after 10 minutes", async () => {
    let now = Date.now();
    const browser = await signInToPage(provider, email, { clock: { now: () => now } });
    now += 10 * 60_000 - 1;
    await openPage(browser);
    now += 1;
    await expectUnknown(browser);
  });

  it("opens what its own address is offered, and nothing of another", async () => {
    const another = newEmail();
    const membershipId = await add(corp, another);
    const browser = await signInToPage(provider, another);
    expect(shownIn(await openPage(browser))).toEqual([corp.id]);
    await expectRefused(await accept(browser, own), 404, "no such organization");
    await expectRefused(await decline(browser, own), 404, "no such organization");
    expect(await isMember(corp, membershipId)).toBe(true);
    expect(shownIn(await openPage(await signInToPage(provider, email)))).toHaveLength(2);
  });

  it("starts one session, also for concurrent requests, and does nothing more", async () => {
    const address = newEmail();
    const worlds = [await newWorld(), await newWorld()] as const;
    for (const world of worlds) await newInvitation(world, { email: address });
    const browser = await signInToPage(provider, address);
    const state = new Map(browser.cookies);
    const copies = Array.from({ length: 6 }, () => {
      const copy = new Browser(provider);
      for (const [name, value] of state) copy.cookies.set(name, value);
      return copy;
    });
    const responses = await Promise.all(
      copies.map((copy, at) => accept(copy, worlds[at % 2 === 0 ? 0 : 1])),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(copies.filter(({ session }) => session !== "")).toHaveLength(1);
    expect(await countSessions(...worlds)).toBe(1);
    const replay = new Browser(provider);
    for (const [name, value] of state) replay.cookies.set(name, value);
    for (const world of worlds) {
      await expectRefused(await accept(replay, world), 400, "Start again");
      await expectRefused(await decline(replay, world), 400, "Start again");
    }
    await expectRefused(await replay.open(CHOICE_PAGE), 400, "Start again");
    expect(await countSessions(...worlds)).toBe(1);
  });

  it("does not let the callback start another session", async () => {
    const address = newEmail();
    await newInvitation(corp, { email: address });
    const browser = new Browser(provider);
    const { headers } = await browser.open("/sign-in");
    const location = headers.get("location") ?? "";
    const pending = new Map(browser.cookies);
    await browser.open(provider.authorize(location, { claims: { email: address } }));
    expect((await accept(browser, corp)).status).toBe(303);
    const again = new Browser(provider);
    for (const [name, value] of pending) again.cookies.set(name, value);
    const callback = provider.authorize(location, { claims: { email: address } });
    expect((await again.open(callback)).status).toBe(400);
    expect(again.session).toBe("");
  });

  it.each([
    ["of another site", { "sec-fetch-site": "cross-site" }],
    ["of another port or a subdomain", { "sec-fetch-site": "same-site" }],
    ["of another origin, by an old browser", { origin: "https://evil.example" }],
    ["without an origin", {}],
  ])("is not used by a form %s", async (_, headers) => {
    const browser = await signInToPage(provider, email);
    for (const path of [`${CHOICE_PAGE}/${own.id}`, `${CHOICE_PAGE}/${own.id}/decline`]) {
      const request = new Request(new URL(path, "https://longshore.test"), {
        method: "POST",
        headers: { ...headers, cookie: `${CHOICE_COOKIE}=${browser.cookies.get(CHOICE_COOKIE)}` },
      });
      const response = await browser.isolate.fetch(request);
      expect(response.status).toBe(403);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
    expect(shownIn(await openPage(browser))).toContain(own.id);
  });
});
