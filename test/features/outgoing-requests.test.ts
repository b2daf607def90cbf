import { beforeAll, describe, expect, it } from "vitest";
import { USER_AGENT } from "../../src/lib/fetch.ts";
import { VERSION } from "../../src/lib/version.ts";
import { DeliveryHarness } from "../support/delivery-harness.ts";
import { insertDeliveries, insertIntegration } from "../support/delivery-rows.ts";
import { ExchangeHarness } from "../support/exchange-harness.ts";
import { Browser, PROVIDER, TestIdentityProvider } from "../support/identity-provider.ts";
import { AUDIENCE, ISSUER, Issuer } from "../support/issuer.ts";
import { SlackHarness } from "../support/slack-harness.ts";
import {
  addressOf,
  newProject,
  newServiceAccount,
  newWorld,
  type World,
} from "../support/world.ts";

let world: World;
let projectId: string;

beforeAll(async () => {
  world = await newWorld();
  projectId = (await newProject(world.client)).id;
});

interface Sent {
  url: string;
  headers?: HeadersInit | undefined;
}

const toSent = ({ url, init }: { url: string; init: RequestInit }): Sent => ({
  url,
  headers: init.headers,
});

/** Each kind of request, with what it is sent to. test/pure/outgoing-requests.test.ts finds what sends. */
const KINDS: Record<string, () => Promise<{ sent: readonly Sent[]; paths: string[] }>> = {
  "the issuer of a trust": async () => {
    const issuer = await Issuer.create();
    const harness = new ExchangeHarness(issuer);
    const { status } = await world.client
      .via(harness.worker.fetch)
      .post(`/v1/orgs/${world.id}/trusts`, {
        ...{ name: "deploy", issuer: ISSUER, audience: AUDIENCE },
        conditions: { repository_id: "74" },
        membership_id: await newServiceAccount(world),
      });
    expect(status).toBe(201);
    expect((await harness.exchangeIn(world.id)).status).toBe(201);
    return {
      sent: issuer.requests.map(toSent),
      paths: ["/.well-known/openid-configuration", "/keys"],
    };
  },
  "the identity provider": async () => {
    const provider = await TestIdentityProvider.create();
    const email = await addressOf(world);
    provider.userInfo = { sub: "person-1", email, email_verified: true };
    const browser = new Browser(provider);
    const { headers } = await browser.open("/sign-in");
    const callback = provider.authorize(headers.get("location") ?? "", { claims: {} });
    expect((await browser.open(callback)).status).toBe(303);
    expect(browser.session).not.toBe("");
    const own = ["/.well-known/openid-configuration", "/keys", "/token", "/userinfo"];
    expect(provider.requests.every(({ url }) => url.startsWith(PROVIDER))).toBe(true);
    return { sent: provider.requests.map(toSent), paths: own };
  },
  "Slack for an installation": async () => {
    const harness = new SlackHarness();
    await harness.finish(world.client, projectId);
    return { sent: harness.requests.map(toSent), paths: ["/api/oauth.v2.access"] };
  },
  "the URL of an integration": async () => {
    const harness = new DeliveryHarness(() => new Response("ok"));
    const integrationId = await insertIntegration({ id: projectId, org_id: world.id });
    const [id = ""] = await insertDeliveries(
      { id: projectId, org_id: world.id },
      integrationId,
      harness.now,
    );
    harness.enqueue([id]);
    await harness.runUntil(harness.now);
    return { sent: harness.received, paths: ["/in"] };
  },
};

describe("a request of the service", () => {
  it.each(Object.entries(KINDS))(
    "to %s has the name and the version of the service",
    async (_, send) => {
      const { sent, paths } = await send();
      expect([...new Set(sent.map(({ url }) => new URL(url).pathname))].toSorted()).toEqual(paths);
      for (const { headers } of sent)
        expect(new Headers(headers).get("user-agent")).toBe(USER_AGENT);
    },
  );

  it("is named as RFC 9110 says, section 10.1.5", () => {
    expect(USER_AGENT).toMatch(/^Longshore\/\d+\.\d+\.\d+ \(\+https:\/\/[!-~]+\)$/);
    expect(USER_AGENT).toContain(`/${VERSION} `);
  });
});
