import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outcomeOf } from "../../src/features/notifications/delivery/outcome.ts";
import {
  FAILING_MS,
  JITTER,
  MAX_RETRY_AFTER_MS,
  pauseUntil,
  RETRY_DELAYS_MS,
  readRetryAfter,
  retryAt,
} from "../../src/features/notifications/delivery/retry-schedule.ts";

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 5, 1);
const DELAYS = RETRY_DELAYS_MS.length;
const below1 = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("the retry schedule", () => {
  it("waits for each of its delays, and then ends", () => {
    const delays = RETRY_DELAYS_MS.map(
      (_, at) => (retryAt(at + 1, NOW, { random: () => 0.5 }) ?? 0) - NOW,
    );
    expect(delays).toEqual(RETRY_DELAYS_MS);
    for (const attempt of [DELAYS + 1, DELAYS + 2, 100]) {
      expect(retryAt(attempt, NOW, { random: () => 0.5, notBefore: NOW + 1 })).toBeUndefined();
    }
  });

  it("varies by up to a tenth, in both directions", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: DELAYS }), below1, (attempt, chance) => {
        const delay = Number(RETRY_DELAYS_MS[attempt - 1]);
        const waited = Number(retryAt(attempt, NOW, { random: () => chance })) - NOW;
        expect(Math.abs(waited - delay)).toBeLessThanOrEqual(delay * JITTER);
      }),
      { numRuns: 1_000 },
    );
    expect(Number(retryAt(1, NOW, { random: () => 0 })) - NOW).toBe(4_500);
    expect(Number(retryAt(1, NOW, { random: () => 0.999_999 })) - NOW).toBe(5_500);
  });

  it("is never before a Retry-After of up to 12 h", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: DELAYS }),
        below1,
        fc.integer({ min: 0, max: 100_000 }),
        (attempt, chance, seconds) => {
          const notBefore = readRetryAfter(String(seconds), NOW);
          const at = Number(retryAt(attempt, NOW, { random: () => chance, notBefore }));
          expect(at).toBeGreaterThanOrEqual(Math.min(NOW + seconds * 1_000, NOW + 12 * HOUR));
          const without = Number(retryAt(attempt, NOW, { random: () => chance }));
          expect(at).toBeLessThanOrEqual(Math.max(without, NOW + 12 * HOUR));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("ends before an endpoint that only fails is disabled", () => {
    const longest = RETRY_DELAYS_MS.reduce((sum, delay) => sum + delay * (1 + JITTER), 0);
    expect(longest).toBeLessThan(FAILING_MS);
  });

  it("pauses an endpoint until Retry-After, or until the retry, for a minute at most", () => {
    expect(pauseUntil(NOW, NOW + 5_000)).toBe(NOW + 5_000);
    expect(pauseUntil(NOW, NOW + HOUR)).toBe(NOW + 60_000);
    expect(pauseUntil(NOW)).toBe(NOW + 60_000);
    expect(pauseUntil(NOW, NOW + 5_000, NOW + HOUR)).toBe(NOW + HOUR);
    expect(pauseUntil(NOW, NOW + HOUR, NOW + 5_000)).toBe(NOW + 5_000);
  });
});

describe("Retry-After", () => {
  const later = NOW + 90_000;
  it.each([
    ["90", later],
    [" 90 ", later],
    ["Mon, 01 Jun 2026 00:01:30 GMT", later],
    ["Monday, 01-Jun-26 00:01:30 GMT", later],
    ["Mon Jun  1 00:01:30 2026", later],
    ["43201", NOW + MAX_RETRY_AFTER_MS],
    ["99999999999999999999", NOW + MAX_RETRY_AFTER_MS],
    ["Tue, 01 Jun 2027 00:00:00 GMT", NOW + MAX_RETRY_AFTER_MS],
  ])("of %j is a time", (header, time) => {
    expect(readRetryAfter(header, NOW)).toBe(time);
  });

  it.each([
    null,
    "",
    "0",
    "-5",
    "1.5",
    "1e3",
    "soon",
    "5 seconds",
    "2026-06-01T00:01:30Z",
    "Mon, 01 Jun 2026 00:01:30",
    "Mon, 01 Jun 2026 00:01:30 CET",
    "Mon, 99 Jun 2026 00:01:30 GMT",
    "Sun, 31 May 2026 23:59:59 GMT",
  ])("of %j is ignored", (header) => {
    expect(readRetryAfter(header, NOW)).toBeUndefined();
  });

  it("may be any text", () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const time = readRetryAfter(header, NOW);
        expect(time ?? NOW + 1).toBeGreaterThan(NOW);
        expect(time ?? NOW).toBeLessThanOrEqual(NOW + MAX_RETRY_AFTER_MS);
      }),
    );
  });
});

describe("a response", () => {
  it("is a success only with a status of 2xx", () => {
    for (let status = 200; status < 600; status += 1) {
      const outcome = outcomeOf(status);
      expect(outcome.success).toBe(status < 300);
      if (outcome.success) continue;
      expect(outcome.error).toBe(status < 400 ? "redirected" : `answered ${status}`);
      expect(outcome.isGone).toBe(status === 410);
      expect(outcome.isThrottled).toBe([429, 502, 504].includes(status));
    }
  });
});
