import { describe, expect, it } from "vitest";
import { matchesGlob } from "../../../src/lib/glob.ts";
import { refusal } from "../../support/client.ts";
import { TrustingHarness } from "../../support/exchange-harness.ts";
import { ISSUER } from "../../support/issuer.ts";

const UNAUTHENTICATED = [401, "unauthenticated"];
const BAD_INPUT = [400, "bad_input"];

describe("a condition", () => {
  it("with wildcards matches any characters except a slash", () => {
    const cases: [string, string, boolean][] = [
      ["main", "main", true],
      ["main", "Main", false],
      ["refs/heads/*", "refs/heads/main", true],
      ["refs/heads/*", "refs/heads/feature/x", false],
      ["refs/heads/*", "refs/heads/", true],
      ["*-prod-*", "eu-prod-1", true],
      ["*-prod-*", "prod", false],
      ["a*a", "a", false],
      ["a*a", "aa", true],
      ["*a*b*c", "xxaxxbxxc", true],
      ["*a*b*c", "xxbxxaxxc", false],
      ["octo/*/.github/workflows/d.yml@*", "octo/r/.github/workflows/d.yml@v1", true],
      [".*", "x", false],
    ];
    for (const [pattern, text, matches] of cases) {
      expect(matchesGlob(pattern, text), `${pattern} and ${text}`).toBe(matches);
    }
    // A regular expression with backtracking would not finish.
    expect(matchesGlob(`${"*a".repeat(200)}b`, "a".repeat(8_000))).toBe(false);
  });

  it("compares numbers and booleans as their JSON text, and a list as any of its values", async () => {
    const harness = await TrustingHarness.create();
    const conditions = { run_attempt: "1", protected: "true", environment: ["qa", "prod*"] };
    expect((await harness.createTrust({ conditions })).status).toBe(201);
    const claims = { run_attempt: 1, protected: true };
    expect((await harness.exchange(await harness.sign(claims))).status).toBe(201);
    for (const other of [{ run_attempt: 2 }, { protected: false }, { environment: "dev" }]) {
      const token = await harness.sign({ ...claims, ...other });
      expect(refusal(await harness.exchange(token))).toEqual(UNAUTHENTICATED);
    }
  });

  const invalid: Record<string, unknown> = {
    "no condition": {},
    "a list": [],
    "21 conditions": Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`c${at}`, "x"])),
    "a claim with its own field": { iss: "x", environment: "production" },
    "an empty name": { "": "x" },
    "a long name": { ["x".repeat(101)]: "x" },
    "an empty value": { environment: "" },
    "a long value": { environment: "x".repeat(501) },
    "an empty list": { environment: [] },
    "21 values": { environment: Array.from({ length: 21 }, () => "x") },
    "a number": { environment: 1 },
    "an object": { environment: { a: "b" } },
    "only wildcards": { environment: "*", repository: ["*/*", "octo/x"] },
    "a control character": { environment: "a\u0000" },
  };

  it.each(Object.entries(invalid))("as %s is bad input", async (_, conditions) => {
    const harness = await TrustingHarness.create();
    const reply = await harness.createTrust({ conditions });
    expect(refusal(reply)).toEqual(BAD_INPUT);
    expect(reply.body.cause.issues[0].path).toMatch(/^conditions/);
  });

  it("on __proto__ is bad input, instead of being ignored", async () => {
    const harness = await TrustingHarness.create();
    const { world, membershipId } = harness;
    const text = `{"name":"d","issuer":"${ISSUER}","audience":"a","membership_id":"${membershipId}",
      "conditions":{"environment":"production","__proto__":"x"}}`;
    const client = world.client.via(harness.worker.fetch);
    const headers = { "content-type": "application/json" };
    const reply = await client.request("POST", `/v1/orgs/${world.id}/trusts`, text, headers);
    expect(refusal(reply)).toEqual(BAD_INPUT);
  });
});
