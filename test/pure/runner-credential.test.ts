import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { ExchangedToken } from "../../packages/runner/src/credential.ts";

const LIFE_SECONDS = 900;
const LIFE_MS = LIFE_SECONDS * 1000;
const RENEWAL_MS = 600_000;

let issued = 0;
let isAvailable: boolean;
let credential: ExchangedToken;
let warnings: string[];

const server = createServer((_, response) => {
  if (isAvailable) issued += 1;
  const body = { key: `token ${issued}`, expires_in: LIFE_SECONDS, type: "runner_token" };
  response.writeHead(isAvailable ? 201 : 503, { "content-type": "application/json" });
  response.end(JSON.stringify(isAvailable ? body : { message: "Try again." }));
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));

afterAll(() => {
  server.close();
});

/** Time passes only in the test. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  [issued, isAvailable, warnings] = [0, true, []];
  credential = new ExchangedToken({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    organizationId: "o",
    requestIdToken: async () => "of the CI system",
    type: "runner_token",
    warn: (message) => warnings.push(message),
  });
});

afterEach(() => {
  vi.useRealTimers();
});

it("exchanges another token after two thirds of the life of the last one", async () => {
  expect(await credential.token()).toBe("token 1");
  vi.advanceTimersByTime(RENEWAL_MS - 1);
  expect(await credential.token()).toBe("token 1");
  vi.advanceTimersByTime(1);
  expect(await credential.token()).toBe("token 2");
  expect(warnings).toEqual([]);
});

it("uses the last token until it expires while it gets no other one", async () => {
  expect(await credential.token()).toBe("token 1");
  isAvailable = false;
  vi.advanceTimersByTime(LIFE_MS - 1);
  expect(await credential.token()).toBe("token 1");
  const reason = "POST /v1/oidc/token: 503 Try again.";
  expect(warnings).toEqual([`${reason} The last token is still used.`]);
  vi.advanceTimersByTime(1);
  await expect(credential.token()).rejects.toThrow(reason);
  isAvailable = true;
  expect(await credential.token()).toBe("token 2");
});
