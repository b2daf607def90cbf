import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ApiError, RunnerError } from "../../packages/runner/src/errors.ts";
import { LogUpload, type SendChunk } from "../../packages/runner/src/log-upload.ts";
import { Spool } from "../../packages/runner/src/spool.ts";

const LIMITS = { everyMs: 1, chunkBytes: 8 };

/** Keeps bytes as the server does, and may keep only a part of a request or ask for earlier bytes again. */
class FakeServer {
  stored = "";
  readonly stacks: string[] = [];
  readonly #faults: readonly number[];
  #requests = 0;

  constructor(faults: readonly number[] = []) {
    this.#faults = faults;
  }

  readonly send: SendChunk = async (offset, { stackId, bytes }) => {
    const fault = this.#faults[this.#requests] ?? 0;
    this.#requests += 1;
    if (offset > this.stored.length) return this.stored.length;
    const fresh = bytes.toString("latin1").slice(this.stored.length - offset);
    const kept = fault === 0 ? fresh : fresh.slice(0, Math.max(1, fresh.length - fault));
    this.stored += kept;
    this.stacks.push(...kept.split("").map(() => stackId));
    return this.stored.length;
  };
}

function newUpload(send: SendChunk, limit = 1_000) {
  const spool = new Spool(limit);
  const upload = new LogUpload(spool, send, LIMITS);
  onTestFinished(() => upload.stop());
  return { spool, upload };
}

function silenceErrors() {
  const error = vi.spyOn(console, "error").mockReturnValue(undefined);
  onTestFinished(() => error.mockRestore());
  return error;
}

/** Of this test only: other tests start runners, which have spools too. */
function newTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "longshore-test-"));
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  return folder;
}

describe("the upload of a log", () => {
  it("sends every byte once and in order, each with its stack, whatever the server keeps of a request", async () => {
    const piece = fc.tuple(fc.constantFrom("a", "b"), fc.integer({ min: 1, max: 30 }));
    await fc.assert(
      fc.asyncProperty(fc.array(piece), fc.array(fc.nat(9)), async (pieces, faults) => {
        const server = new FakeServer(faults);
        const { upload } = newUpload(server.send);
        let expected = "";
        for (const [index, [stackId, length]] of pieces.entries()) {
          const text = String.fromCharCode(65 + (index % 26)).repeat(length);
          upload.append(stackId, Buffer.from(text));
          expected += text;
          if (index % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        upload.complete(60_000);
        await upload.done;
        expect(server.stored).toBe(expected);
        expect(server.stacks.join("")).toBe(
          pieces.map(([stack, length]) => stack.repeat(length)).join(""),
        );
      }),
      { numRuns: 60 },
    );
  });

  it("ends with one line if the server refuses, and takes more output without an effect", async () => {
    const error = silenceErrors();
    const refusal = { status: 409, directive: "stop", retryAfterMs: undefined, body: {} } as const;
    const { upload } = newUpload(async () => {
      throw new ApiError("POST /logs", refusal);
    });
    upload.append("a", Buffer.from("one"));
    await upload.done;
    upload.append("a", Buffer.from("two"));
    upload.complete(60_000);
    expect(error.mock.calls).toEqual([
      [expect.stringMatching(/^The log is no longer sent\. .*409.* The deployment continues\.$/)],
    ]);
  });

  it("ends if the server does not move on, instead of sending the same bytes forever", async () => {
    const error = silenceErrors();
    const { upload } = newUpload(async (offset) => offset);
    upload.append("a", Buffer.from("one"));
    await upload.done;
    expect(error).toHaveBeenCalledOnce();
  });

  /** Responds with these offsets, one after the other. Returns those of the requests, once the upload has ended. */
  async function uploadTo(responses: (request: number) => number, bytes: string) {
    const offsets: number[] = [];
    const { upload } = newUpload(async (offset) => {
      offsets.push(offset);
      if (offsets.length > 1_000) throw new Error("The upload does not end.");
      return responses(offsets.length - 1);
    });
    upload.append("a", Buffer.from(bytes));
    upload.complete(60_000);
    await upload.done;
    return offsets;
  }

  it("continues where the server asks for earlier bytes, and ends if it then does not move on", async () => {
    const error = silenceErrors();
    expect(await uploadTo((request) => [8, 3, 11, 16][request] ?? -1, "x".repeat(16))).toEqual([
      0, 8, 3, 11,
    ]);
    expect(error).not.toHaveBeenCalled();
    expect(await uploadTo((request) => [8, 3][request] ?? 3, "x".repeat(16))).toEqual([0, 8, 3]);
    expect(error.mock.calls).toEqual([
      [expect.stringContaining("The server continues at byte 3 instead of 3.")],
    ]);
  });

  it("ends if the server asks for earlier bytes again and again, also if it moves on between", async () => {
    const error = silenceErrors();
    const stepsBack = (requests: readonly number[]) =>
      requests.filter((offset, at) => offset < (requests[at - 1] ?? 0)).length;
    const backAndForth = (request: number) => (request % 2 === 0 ? 8 : 0);
    const recovers = (request: number) => (request < 200 ? backAndForth(request) : 9);
    expect(stepsBack(await uploadTo(recovers, "x".repeat(9)))).toBe(100);
    expect(error).not.toHaveBeenCalled();
    expect(stepsBack(await uploadTo(backAndForth, "x".repeat(9)))).toBe(100);
    expect(error).toHaveBeenCalledOnce();
  });

  it("ends without a word when it is stopped during a request", async () => {
    const error = silenceErrors();
    const { upload } = newUpload(async (_offset, _chunk, signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      throw new RunnerError("no response");
    });
    upload.append("a", Buffer.from("one"));
    upload.stop();
    await upload.done;
    expect(error).not.toHaveBeenCalled();
  });

  it("ends by itself some time after the last byte, if the server does not respond", async () => {
    silenceErrors();
    const { upload } = newUpload(async (_offset, _chunk, signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      throw new RunnerError("no response");
    });
    upload.append("a", Buffer.from("one"));
    upload.complete(20);
    await upload.done;
  });
});

describe("the spool of a log", () => {
  it("is a file that only this user can read, until the end of the upload", async () => {
    const temporaryFolder = newTemporaryFolder();
    const { upload } = newUpload(new FakeServer().send);
    const [folder = ""] = readdirSync(temporaryFolder);
    const path = join(temporaryFolder, folder);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(path, "output")).mode & 0o777).toBe(0o600);
    upload.complete(60_000);
    await upload.done;
    expect(existsSync(path)).toBe(false);
  });

  it("keeps no more than its limit", async () => {
    const server = new FakeServer();
    const { spool, upload } = newUpload(server.send, 10);
    upload.append("a", Buffer.from("123456"));
    upload.append("b", Buffer.from("789012"));
    upload.append("b", Buffer.from("345"));
    expect(spool.size).toBe(10);
    upload.complete(60_000);
    await upload.done;
    expect(server.stored).toBe("1234567890");
  });
});
