import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sign } from "../../src/features/notifications/delivery/signature.ts";
import official from "../support/standard-webhooks.json" with { type: "json" };

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const NOW = 1_760_000_000;
const SIGNED = { id: "1CiCzHVVXqZpdRYYCDUVHx", timestamp: NOW, body: '{"data":"€"}' };

/** The headers of a sent message, with the changes of a test. */
async function headersOf(signed: typeof SIGNED, signature?: string) {
  return {
    "webhook-id": signed.id,
    "webhook-timestamp": String(signed.timestamp),
    "webhook-signature": signature ?? (await sign(signed, [SECRET])),
  };
}

afterEach(() => {
  vi.useRealTimers();
});

function pass(seconds: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: seconds * 1_000 });
}

const verify = (body: string, headers: Record<string, string>) =>
  new Webhook(SECRET).verify(body, headers);

describe("a signature", () => {
  it.each(official.vectors)("equals the official test vector $id", async (vector) => {
    const { id, timestamp, body, secret, signature } = vector;
    expect(await sign({ id, timestamp: Number(timestamp), body }, [secret])).toBe(signature);
    pass(Number(timestamp));
    const headers = await headersOf({ id, timestamp: Number(timestamp), body }, signature);
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  });

  it("is followed by one with the previous secret, and both verify", async () => {
    pass(NOW);
    const both = await sign(SIGNED, [SECRET, OTHER]);
    expect(both).toBe(`${await sign(SIGNED, [SECRET])} ${await sign(SIGNED, [OTHER])}`);
    for (const secret of [SECRET, OTHER]) {
      expect(new Webhook(secret).verify(SIGNED.body, await headersOf(SIGNED, both))).toBeTruthy();
    }
  });

  it("verifies if the correct one is the third in the list", async () => {
    pass(NOW);
    const [wrong, right] = [await sign(SIGNED, [OTHER]), await sign(SIGNED, [SECRET])];
    const list = `${wrong} v1a,${right.slice(3)} ${right}`;
    expect(verify(SIGNED.body, await headersOf(SIGNED, list))).toEqual({ data: "€" });
  });

  it.each(["webhook-id", "webhook-timestamp", "webhook-signature"])(
    "does not verify without %s",
    async (name) => {
      pass(NOW);
      const { [name]: _, ...rest }: Record<string, string> = await headersOf(SIGNED);
      expect(() => verify(SIGNED.body, rest)).toThrow("Missing required headers");
    },
  );

  it.each([
    ["another secret's", (_: string) => sign(SIGNED, [OTHER])],
    ["another message's", (_: string) => sign({ ...SIGNED, id: "other" }, [SECRET])],
    ["one that is cut short", async (right: string) => right.slice(0, -4)],
    ["one of another version", async (right: string) => right.replace("v1,", "v2,")],
    ["an empty one", async (_: string) => "v1,"],
  ])("does not verify if it is %s", async (_, spoil) => {
    pass(NOW);
    const headers = await headersOf(SIGNED, await spoil(await sign(SIGNED, [SECRET])));
    expect(() => verify(SIGNED.body, headers)).toThrow("No matching signature found");
  });

  it.each([
    ["too old", NOW + 301],
    ["too new", NOW - 301],
  ])("does not verify when its time stamp is %s", async (name, now) => {
    pass(now);
    const headers = await headersOf(SIGNED);
    expect(() => verify(SIGNED.body, headers)).toThrow(`Message timestamp ${name}`);
  });

  it("does not verify another body or an empty one", async () => {
    pass(NOW);
    const headers = await headersOf(SIGNED);
    for (const body of ["", '{"data":"x"}']) expect(() => verify(body, headers)).toThrow();
  });

  it("of an empty body verifies only an empty body", async () => {
    pass(NOW);
    const empty = { ...SIGNED, body: "" };
    const headers = await headersOf(empty);
    expect(() => verify("", headers)).not.toThrow();
    expect(() => verify(SIGNED.body, headers)).toThrow("No matching signature found");
  });
});
