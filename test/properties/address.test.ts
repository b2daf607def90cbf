import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clientNetwork } from "../../src/rate-limits/client-address-limiter.ts";

const group = fc.oneof(fc.constant(0), fc.nat({ max: 0xffff }));
const groups = (count: number) => fc.array(group, { minLength: count, maxLength: count });
const full = (each: readonly number[]) =>
  each.map((value) => value.toString(16).padStart(4, "0")).join(":");
const short = (each: readonly number[]) => each.map((value) => value.toString(16)).join(":");

/** Every compressed form of an address (RFC 4291, 2.2). */
function compressed(each: readonly number[]): string[] {
  const spellings: string[] = [];
  for (let start = 0; start < each.length; start += 1) {
    for (let end = start + 1; end <= each.length && each[end - 1] === 0; end += 1) {
      spellings.push(`${short(each.slice(0, start))}::${short(each.slice(end))}`);
    }
  }
  return spellings;
}

describe("the network of a client address", () => {
  it("is the same for all spellings of an IPv6 address", () => {
    fc.assert(
      fc.property(groups(8), (address) => {
        const spellings = [full(address), short(address), ...compressed(address)];
        const networks = [...spellings, ...spellings.map((text) => text.toUpperCase())].map(
          clientNetwork,
        );
        expect(new Set(networks).size).toBe(1);
      }),
    );
  });

  it("is the same for all addresses of a /64, and differs for every other /64", () => {
    fc.assert(
      fc.property(groups(4), groups(4), groups(4), groups(4), (network, other, host, guest) => {
        const own = clientNetwork(full([...network, ...host]));
        for (const text of [full([...network, ...guest]), ...compressed([...network, ...guest])]) {
          expect(clientNetwork(text)).toBe(own);
        }
        const same = full(network) === full(other);
        expect(clientNetwork(short([...other, ...host])) === own).toBe(same);
      }),
    );
  });

  it("is the full IPv4 address, also when it is mapped to IPv6", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(clientNetwork(address)).toBe(address);
        expect(clientNetwork(`::ffff:${address}`)).toBe(address);
      }),
    );
  });
});
