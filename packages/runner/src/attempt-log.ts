import { createHash } from "node:crypto";
import type { ApiClient } from "./api.ts";
import type { Claim, Completion, DeliveredVariable, Intervals } from "./api-types.ts";
import { ApiError } from "./errors.ts";
import { LogUpload, type SendChunk } from "./log-upload.ts";
import { prepareMaskers } from "./masker.ts";
import { secretPatterns } from "./secret-forms.ts";
import { Spool } from "./spool.ts";
import { StackLog } from "./stack-log.ts";
import type { TerminalOutput } from "./terminal-output.ts";

const MASKED_METHODS: readonly string[] = ["secret", "secure_string"];
/** For as long as the server accepts missing bytes. */
export const UPLOAD_AFTER_END_MS = 600_000;
/** For a slow reader of the standard output. */
const FLUSH_MS = 1_000;

/**
 * The output of an attempt: masks it, shows it, and uploads it. A failure here changes nothing about the
 * deployment.
 */
export class AttemptLog {
  readonly #send: SendChunk;
  readonly #terminal: TerminalOutput;
  readonly #digest = createHash("sha256");
  #createMasker = prepareMaskers(secretPatterns([]));
  /** The logs of stacks that have not ended. */
  readonly #stacks = new Map<string, StackLog>();
  #isShared = false;
  #upload: LogUpload | undefined;
  #isComplete = false;
  #hasFailed = false;
  #size = 0;

  constructor(send: SendChunk, terminal: TerminalOutput) {
    this.#send = send;
    this.#terminal = terminal;
  }

  /** Resolves at the end of the upload. */
  get uploaded(): Promise<void> {
    return this.#upload?.done ?? Promise.resolve();
  }

  /**
   * Before the first output. Others than the variables are the runner's own secrets.
   * @param isShared Whether several stacks write at once.
   */
  start(
    variables: readonly DeliveredVariable[],
    others: readonly string[],
    { intervals, isShared }: { intervals: Intervals; isShared: boolean },
  ): void {
    this.#isShared = isShared;
    const secrets = variables.filter(({ storage_method }) =>
      MASKED_METHODS.includes(storage_method),
    );
    const values = secrets.map(({ value }) => value);
    this.#guard(() => {
      this.#createMasker = prepareMaskers(secretPatterns([...values, ...others]));
    });
    this.#upload = startUpload(this.#send, intervals);
  }

  write(stackId: string, bytes: Buffer): void {
    this.#guard(() => this.#logOf(stackId).write(bytes));
  }

  /** Adds a line of the runner itself. */
  note(stackId: string, text: string): void {
    this.#guard(() => this.#logOf(stackId).note(text));
  }

  /** Undefined if it cannot be masked. */
  maskText(text: string): string | undefined {
    let masked: string | undefined;
    this.#guard(() => {
      masked = this.#mask(text).toString();
    });
    return masked;
  }

  /** Also waits a while until the output is shown. */
  async endStack(stackId: string): Promise<void> {
    this.#guard(() => this.#logOf(stackId).end());
    this.#stacks.delete(stackId);
    await this.#terminal.flushed(FLUSH_MS);
  }

  /** After the last stack. The upload continues in the background. Returns a part of the completion. */
  complete(): Pick<Completion, "log"> {
    this.#isComplete = true;
    this.#upload?.complete(UPLOAD_AFTER_END_MS);
    return { log: { size: this.#size, sha256: this.#digest.digest("hex") } };
  }

  /** For an attempt that ends without a completion. */
  stopUnlessComplete(): void {
    if (!this.#isComplete) this.stop();
  }

  stop(): void {
    this.#upload?.stop();
  }

  /** After a failure, no output is shown or sent: it could have secrets. */
  #guard(run: () => void): void {
    if (this.#hasFailed) return;
    try {
      run();
    } catch (error) {
      this.#hasFailed = true;
      this.stop();
      const message = error instanceof Error ? error.message : String(error);
      console.error(`The output cannot be masked, so it is no longer shown: ${message}`);
    }
  }

  #mask(text: string): Buffer {
    const masker = this.#createMasker();
    return Buffer.concat([masker.mask(Buffer.from(text)), masker.flush()]);
  }

  #logOf(stackId: string): StackLog {
    const existing = this.#stacks.get(stackId);
    if (existing) return existing;
    const created = new StackLog({
      masker: this.#createMasker(),
      emit: (masked) => this.#add(stackId, masked),
      maskNote: (line) => this.#mask(line),
      isShared: this.#isShared,
    });
    this.#stacks.set(stackId, created);
    return created;
  }

  #add(stackId: string, masked: Buffer): void {
    this.#size += masked.length;
    this.#digest.update(masked);
    this.#terminal.write(masked);
    this.#upload?.append(stackId, masked);
  }
}

/** Requests to the log of an attempt. Ignores their directive, which is to stop once the attempt has ended. */
export function sendToLog(api: ApiClient, { attempt_id, lease_token }: Claim): SendChunk {
  return async (offset, { stackId, bytes }, signal) => {
    const path = `/v1/runner/attempts/${attempt_id}/logs?offset=${offset}&stack_id=${stackId}`;
    const options = { bytes, leaseToken: lease_token, retryForMs: Infinity, signal };
    try {
      const { body } = await api.send("POST", path, options);
      return (body as { next_offset: number }).next_offset;
    } catch (error) {
      if (error instanceof ApiError && error.nextOffset !== undefined) return error.nextOffset;
      throw error;
    }
  };
}

function startUpload(send: SendChunk, intervals: Intervals): LogUpload | undefined {
  try {
    return new LogUpload(new Spool(intervals.log_bytes), send, {
      everyMs: intervals.log_every_seconds * 1000,
      chunkBytes: intervals.log_chunk_bytes,
    });
  } catch (error) {
    const { code = "an unknown error" } = error as NodeJS.ErrnoException;
    console.error(`The log cannot be stored: ${code}. The deployment continues.`);
    return undefined;
  }
}
