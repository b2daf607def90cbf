/**
 * Durable Objects keep what they have stored when their code changes. These are states as installations
 * hold them, word for word: whoever changes what an object stores also reads these.
 */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { CLOSING_LINES } from "../../src/features/deployments/logs/model.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import type { PolicyName } from "../../src/rate-limits/policies.ts";
import { freezeTime } from "../support/frozen-time.ts";
import { lease } from "../support/full-window.ts";
import {
  append,
  declare,
  type LoggedDeployment,
  logObject,
  newLoggedDeployment,
  start,
} from "../support/log-harness.ts";
import type { Attempt } from "../support/runner.ts";

/** Shortly after the states were stored. */
const NOW = 1_795_864_072_400;
const WINDOW_MS = 60_000;

function freezeAtNow(): void {
  freezeTime();
  vi.setSystemTime(NOW);
}

/** Starts the object again, with this state alone. */
async function load(
  object: Parameters<typeof evictDurableObject>[0],
  state: Record<string, unknown>,
): Promise<void> {
  await runInDurableObject(object, (_, { storage }) => storage.put(state));
  await evictDurableObject(object);
}

describe("the stored state of a key's limiter", () => {
  beforeEach(freezeAtNow);

  const STATE = {
    version: 7,
    logs: {
      default: [1795864072345, 1795864072345, 1795864072355],
      polling: [],
      reveal: [],
      runner: [],
      console: [],
    },
    sessionLogs: { session1: [1795864072365] },
  };

  async function loadLimiter(state: Record<string, unknown>) {
    const limiter = env.RATE_LIMITER.getByName(crypto.randomUUID());
    await load(limiter, { state });
    const consume = (policy: PolicyName, sessionId?: string) => {
      const options = { exemptFromBudget: false, cost: undefined };
      const id = crypto.randomUUID();
      return limiter.consume(policy, 5, crypto.randomUUID(), sessionId, "someone", id, options);
    };
    return { limiter, consume };
  }

  it("has the version of the key, and its windows and those of its sessions, which slide on", async () => {
    const { limiter, consume } = await loadLimiter(STATE);
    expect(await limiter.isKnown()).toBe(true);
    expect(await limiter.version()).toBe(7);
    const admitted = { admitted: true, version: 7 };
    expect(await consume("default")).toMatchObject({ ...admitted, remaining: 96 });
    expect(await consume("console", "session1")).toMatchObject({ ...admitted, remaining: 598 });
    expect(await consume("console", "session2")).toMatchObject({ ...admitted, remaining: 599 });
    vi.setSystemTime(1795864072345 + WINDOW_MS);
    expect(await consume("default")).toMatchObject({ ...admitted, remaining: 97 });
  });

  it("has the version of the key also if it lacks windows", async () => {
    const { consume } = await loadLimiter({ version: 7, logs: { default: Array(100).fill(NOW) } });
    const refused = { admitted: false, by: "key", version: 7 };
    expect(await consume("default")).toMatchObject(refused);
    expect(await consume("console", "session1")).toMatchObject({ admitted: true, version: 7 });
  });
});

describe("the stored state of an organization's limiter", () => {
  beforeEach(freezeAtNow);

  const STATE = {
    default: {
      log: [[1795864072350, 1503]],
      consumers: [["busy", [[1795864073000, 1500]]]],
      reserved: [["g1", 10, 1795864152345, "busy"]],
    },
    runner: { log: [[1795864072350, 3]], consumers: [], reserved: [] },
    "budget:caller": {
      log: [[1795864073000, 5000000]],
      consumers: [["costly", [[1795864073000, 5000000]]]],
    },
    "budget:runner": { log: [[1795864073000, 9]], consumers: [] },
    "log-bytes": { day: 20785, reserved: 5000 },
  };

  async function loadLimiter(state: Record<string, unknown>): Promise<string> {
    const organizationId = crypto.randomUUID();
    await load(env.ORGANIZATION_LIMITER.getByName(organizationId), state);
    return organizationId;
  }

  it("has what its consumers have used of a window, and what is prefetched", async () => {
    const id = await loadLimiter(STATE);
    const admitted = async (consumerId: string, policy: PolicyName = "default") =>
      (await lease(id, policy, { consumerId, waiting: 24_000 })).admitted;
    expect([await admitted("one"), await admitted("two")]).toEqual([400, 87]);
    const reports = [{ grantId: "g1", ages: [], unused: 10 }];
    await lease(id, "default", { consumerId: "busy", reports });
    expect([await admitted("busy"), await admitted("two")]).toEqual([0, 10]);
    expect(await admitted("pool", "runner")).toBe(19_197);
  });

  it("has what its consumers have used of a budget, and its log bytes of the day", async () => {
    const id = await loadLimiter(STATE);
    const costly = { consumerId: "costly", waiting: 1 };
    const overBudgetMs = 1795864073000 + WINDOW_MS - NOW;
    expect(await lease(id, "default", costly)).toMatchObject({ admitted: 0, overBudgetMs });
    expect(await lease(id, "runner", costly)).toMatchObject({ admitted: 1, overBudgetMs: 0 });
    const limiter = env.ORGANIZATION_LIMITER.getByName(id);
    const { value: limit } = LIMITS.logBytesOfDay;
    expect(await limiter.reserveLogBytes("r2", limit)).toBe(limit - 5000);
  });

  it("counts for no consumer in particular if it names none", async () => {
    const { log } = STATE.default;
    const id = await loadLimiter({ default: { log, reserved: [["g1", 10, 1795864152345]] } });
    const busy = { consumerId: "busy", waiting: 500 };
    expect(await lease(id, "default", busy)).toMatchObject({ admitted: 400 });
    expect(await lease(id, "default", { ...busy, consumerId: "quiet" })).toMatchObject({
      admitted: 87,
    });
  });
});

describe("the stored state of a host's limiter", () => {
  beforeEach(freezeAtNow);

  it("has the time of the last 2xx", async () => {
    const limiter = env.HOST_LIMITER.getByName(crypto.randomUUID());
    await load(limiter, { succeededAt: 1795864072345 });
    vi.setSystemTime(1795864072345 + LIMITS.hostSuccessMs.value - 1);
    expect(await limiter.ask("one")).toEqual({ waitMs: 0, goodForMs: 1 });
    vi.setSystemTime(1795864072345 + LIMITS.hostSuccessMs.value);
    expect(await limiter.ask("one")).toEqual({ waitMs: 0, goodForMs: 0 });
  });
});

describe("the stored log of a deployment", () => {
  const OPEN = {
    endedAt: null,
    run: null,
    declaration: null,
    isFull: false,
    isCanceling: false,
    sealedAt: null,
    isTruncated: false,
  };
  const LINES = ["plan\n", "apply\n"];

  let logged: LoggedDeployment;
  let attempt: Attempt;

  beforeEach(async () => {
    logged = await newLoggedDeployment();
    attempt = await start(logged);
  });

  async function loadLog(state: Record<string, unknown>, chunks: readonly string[]) {
    const { deploymentId, stackIds, world } = logged;
    const content = { deploymentId, attemptId: attempt.claimed.attempt_id, ...state };
    const object = logObject(deploymentId);
    await runInDurableObject(object, (_, { storage: { sql } }) => {
      sql.exec("CREATE TABLE log (id integer primary key, content text not null)");
      sql.exec(`CREATE TABLE chunks (start integer primary key, stack_id text not null,
        time integer not null, bytes blob not null)`);
      sql.exec("insert into log values (1, ?)", JSON.stringify(content));
      let start = 0;
      for (const [index, text] of chunks.entries()) {
        const bytes = new TextEncoder().encode(text);
        sql.exec("insert into chunks values (?, ?, ?, ?)", start, stackIds[index % 2], NOW, bytes);
        start += bytes.length;
      }
    });
    await evictDurableObject(object);
    // Nothing is left of the day.
    const limiter = env.ORGANIZATION_LIMITER.getByName(world.id);
    await limiter.reserveLogBytes(crypto.randomUUID(), LIMITS.logBytesOfDay.value);
  }

  const send = (offset: number, body: string) =>
    append(logged, attempt, { stackId: logged.stackIds[0], offset, body });

  const read = async (accept: string) =>
    logged.world.client.get(`/v1/deployments/${logged.deploymentId}/logs`, { accept });

  const page = async () => (await read("application/json")).body;
  const text = async () => (await read("text/plain")).text;

  it("takes what follows, as far as its bytes are reserved", async () => {
    await loadLog({ ...OPEN, reservedSize: 16384 }, LINES);
    expect((await send(6, "pply\n")).body).toEqual({ next_offset: 11 });
    const rest = "x".repeat(16384 - 11);
    expect((await send(11, rest)).body).toEqual({ next_offset: 16384 });
    expect((await send(16384, "y")).body).toEqual({ next_offset: 16385 });
    expect(await text()).toBe(`plan\napply\n${rest}${CLOSING_LINES.ofDay}`);
  });

  it("takes its first bytes", async () => {
    await loadLog(OPEN, []);
    expect((await send(0, "x")).body).toEqual({ next_offset: 1 });
    expect(await text()).toBe(CLOSING_LINES.ofDay);
  });

  it("takes nothing else once it is full, and is sealed without its closing line", async () => {
    const full = { ...OPEN, isFull: true, reservedSize: 11, sentSize: 11 };
    await loadLog(full, [...LINES, CLOSING_LINES.ofDay]);
    expect((await send(11, "more")).body).toEqual({ next_offset: 15 });
    const log = await declare(LINES.join(""));
    expect((await attempt.complete("failed", { log })).status).toBe(200);
    await expect.poll(page).toMatchObject({ status: "sealed", truncated: false });
    expect(await text()).toBe(LINES.join("") + CLOSING_LINES.ofDay);
  });

  it("is readable once it is sealed", async () => {
    const sealed = {
      endedAt: 1795864072345,
      run: {
        status: "failed",
        stacks: logged.stackIds.map((id) => ({ id, status: "skipped" })),
        hasStarted: true,
        isLogPending: true,
      },
      declaration: {
        size: 11,
        sha256: "f347a3d10746ecc4f56b68cb89ef0fd6ca3e67a79ec2c3873d21f39d51d66f63",
      },
      isFull: false,
      isCanceling: false,
      sealedAt: 1795864072350,
      isTruncated: false,
      reservedSize: 16384,
    };
    await loadLog(sealed, LINES);
    expect(await page()).toMatchObject({ status: "sealed", truncated: false, next_offset: 11 });
    expect(await text()).toBe(LINES.join(""));
    expect((await send(11, "more")).status).toBe(409);
  });
});
