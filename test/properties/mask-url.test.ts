import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redactTarget } from "../../src/features/notifications/delivery/redact-target.ts";
import { maskHost, maskUrl } from "../../src/lib/mask-url.ts";

const SHOWN: readonly (readonly [why: string, url: string, shown: string])[] = [
  ["a token in the subdomain", "https://k3y7.example.com/", "https://***.example.com/***"],
  [
    "a token before the subdomain",
    "https://k3y7.in.example.com/",
    "https://***.in.example.com/***",
  ],
  ["a token in a short segment", "https://example.com/x7K", "https://example.com/***"],
  ["a token in a long segment", `https://example.com/${"x".repeat(40)}`, "https://example.com/***"],
  ["a token in the query", "https://example.com/?k3y7=1", "https://example.com/***"],
  ["nothing to hide", "https://example.com", "https://example.com/***"],
  ["a port", "https://k3y7.example.com:8443/a", "https://***.example.com:8443/***"],
  ["the default port", "https://example.com:443/a", "https://example.com/***"],
  ["a trailing dot", "https://k3y7.example.com./a", "https://***.example.com./***"],
  ["two labels and a trailing dot", "https://example.com./a", "https://example.com./***"],
  ["a country's domain", "https://example.co.uk/a", "https://***.co.uk/***"],
  ["Unicode", "https://k3y7.münchen.de/ä", "https://***.xn--mnchen-3ya.de/***"],
  ["Punycode", "https://xn--mnchen-3ya.example.de/", "https://***.example.de/***"],
  ["an IPv4 address", "https://8.8.8.8/a", "https://8.8.8.8/***"],
  ["an IPv4 address and a port", "https://8.8.8.8:8443/a", "https://8.8.8.8:8443/***"],
  ["an IPv4 address and a trailing dot", "https://8.8.8.8./a", "https://8.8.8.8/***"],
  ["an IPv4 address as a number", "https://134744072/a", "https://8.8.8.8/***"],
  ["an IPv6 address", "https://[2606:4700::1111]:8443/a", "https://[2606:4700::1111]:8443/***"],
  [
    "an IPv6 address with an IPv4 address",
    "https://[::ffff:8.8.8.8]/a",
    "https://[::ffff:808:808]/***",
  ],
  [
    "an address before a domain",
    "https://10.0.0.1.nip.example.com/",
    "https://***.0.0.1.nip.example.com/***",
  ],
  ["one label", "http://localhost:9000/a", "http://localhost:9000/***"],
  ["a user", "https://user:k3y7@example.com/", "https://example.com/***"],
];

describe("a masked URL", () => {
  it.each(SHOWN)("of %s: %s", (_, url, shown) => {
    expect(maskUrl(url)).toBe(shown);
    expect(maskUrl(shown)).toBe(shown);
    expect(URL.canParse(shown)).toBe(true);
    expect(maskHost(new URL(url).host)).toBe(new URL(shown).host);
  });

  it("of a text that is no URL has no part of it", () => {
    for (const text of ["", "k3y7", "k3y7.example.com/x", "https://"]) {
      expect(maskUrl(text)).toBe("***");
    }
  });

  // Digits that the rest of the URL lacks, so that a shown part cannot be there by chance.
  const secret = fc.stringMatching(/^[0-9]{4,30}$/);
  const domain = fc
    .array(fc.stringMatching(/^[a-z]{1,10}$/), { minLength: 2, maxLength: 4 })
    .map((labels) => labels.join("."));
  const port = fc.constantFrom("", ":8443");

  it("shows no three digits in a row of the first label, of the path or of the query", () => {
    fc.assert(
      fc.property(secret, fc.array(secret), fc.array(secret), domain, port, (label, ...rest) => {
        const [segments, values, parent, suffix] = rest;
        const query = values.map((value, at) => `${at}=${value}`).join("&");
        const url = `https://${label}.${parent}${suffix}/${segments.join("/")}?${query}`;
        const shown = maskUrl(url);
        expect(shown).toBe(`https://***.${parent}${suffix}/***`);
        expect(shown.replace(suffix, "")).not.toMatch(/[0-9]{3}/);
        expect(maskUrl(shown)).toBe(shown);
      }),
    );
  });

  it("depends on the origin only", () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
        expect(maskUrl(url)).toBe(maskUrl(new URL(url).origin));
      }),
    );
  });
});

describe("a response that repeats its target's URL", () => {
  const target = "https://k3y7x9.hooks.example.com:8443/services/s3gm3nt/ab?t0k3nn=qu3ry%2Fv&b=1";

  it.each([
    [
      "its path and query",
      "Cannot POST /services/s3gm3nt/ab?t0k3nn=qu3ry%2Fv&b=1.",
      "Cannot POST ***.",
    ],
    ["its path", "<pre>/services/s3gm3nt/ab</pre>", "<pre>***</pre>"],
    ["one segment", '{"hook":"s3gm3nt"}', '{"hook":"***"}'],
    ["escaped slashes", "\\/services\\/s3gm3nt\\/ab", "\\/***\\/***\\/ab"],
    ["a value", "value=qu3ry%2Fv", "value=***"],
    ["a decoded value", "value=qu3ry/v", "value=***"],
    ["the query as HTML", "<a href=?t0k3nn=qu3ry%2Fv&amp;b=1>", "<a href=***>"],
    ["the host", "no host k3y7x9.hooks.example.com:8443", "no host ***.hooks.example.com:8443"],
    ["the first label", "no tenant k3y7x9", "no tenant ***"],
    ["the whole URL", `no ${target}!`, "no https://***.hooks.example.com:8443***!"],
    ["nothing", "upstream unavailable: b=1", "upstream unavailable: b=1"],
  ])("is kept without %s", (_, response, kept) => {
    expect(redactTarget(response, target)).toBe(kept);
  });

  it("is kept as it is if the URL has only short parts", () => {
    const page = "<html>/ /in ?a=b in /info</html>";
    expect(redactTarget(page, "https://example.com/in?a=b")).toBe(page);
    expect(redactTarget(page, "https://example.com")).toBe(page);
  });

  it("is redacted for any URL and any text without an exception", () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), fc.string(), (url, text) => {
        const { pathname, search } = new URL(url);
        const whole = pathname + search;
        fc.pre(whole.length >= 6 && !whole.includes("*"));
        expect(redactTarget(`${text}${whole}${text}`, url)).not.toContain(whole);
      }),
    );
  });
});
