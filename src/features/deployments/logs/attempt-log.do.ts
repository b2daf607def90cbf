import { DurableObject } from "cloudflare:workers";
import { LIMITS } from "../../../lib/limits.ts";
import { consoleLog, describeError } from "../../../lib/log.ts";
import { type AppendPlan, planAppend } from "./append.ts";
import { ChunkStore, type StoredLog } from "./chunk-store.ts";
import { sha256OfChunks } from "./digest.ts";
import type {
  AppendRequest,
  AppendResult,
  LogContent,
  LogNotification,
  LogSize,
} from "./messages.ts";
import { CLOSING_LINES } from "./model.ts";
import { PacedSender } from "./paced-sender.ts";
import { bytesToReserve, reserveBytes } from "./reservation.ts";
import type { EndedAttempt, Run } from "./run.ts";
import { endedAttemptOf, findRun, type RunRow, toRun } from "./run-row.ts";

const LIMIT = LIMITS.logBytes.value;
/** Longer than any run: the alarm of a log that is never notified of the end of its attempt. */
const UNNOTIFIED_MS = LIMITS.maximumRunSeconds.value * 1000 + 24 * 3_600_000;

/**
 * The log of a deployment: what the runner of its only started attempt has printed. Named after the
 * deployment, so that followers can wait before there is an attempt. Followers get notifications over
 * hibernatable WebSockets and read by themselves, so that the object sleeps between two changes.
 */
export class AttemptLog extends DurableObject<Env> {
  readonly #store: ChunkStore;
  readonly #notifications: PacedSender;
  #log: StoredLog | undefined;
  #size = 0;
  #run: Run | undefined;
  #refreshing: Promise<RunRow | null> = Promise.resolve(null);

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new ChunkStore(ctx.storage.sql);
    this.#notifications = new PacedSender(() => this.#notify());
    this.#log = this.#store.load();
    if (!this.#log) return;
    this.#size = this.#store.size();
    this.#run = this.#log.run ?? undefined;
  }

  async append(request: AppendRequest): Promise<AppendResult> {
    if (!this.#log) await this.#open(request);
    if (this.#bytesToReserve(request) > 0) await this.#reserve(request);
    const plan = this.#plan(request);
    const log = this.#log;
    if (!log || plan.kind === "sealed") return { kind: "ended" };
    if (plan.kind === "gap") return plan;
    const { skipped, kept, nextOffset } = plan;
    if (kept > 0) this.#keep(log, request.stackId, request.bytes.subarray(skipped, skipped + kept));
    await this.#sealIfComplete();
    const { isCanceling, endedAt } = this.#log ?? log;
    return { kind: "accepted", nextOffset, isCanceling, hasEnded: endedAt !== null };
  }

  /**
   * Bytes from `after`.
   * @param stackId Only the bytes of this stack. Other bytes are skipped.
   */
  read(after: number, maximumBytes: number, stackId?: string): LogContent {
    const log = this.describe();
    if (!log) return { log, chunks: [], nextOffset: after };
    return { log, ...this.#store.read(after, maximumBytes, stackId) };
  }

  describe(): LogSize | undefined {
    if (!this.#log) return undefined;
    const { sealedAt, isTruncated } = this.#log;
    return { size: this.#size, isSealed: sealedAt !== null, isTruncated };
  }

  /** Like `refresh`, for a change that only followers need to know. */
  async refreshFollowers(deploymentId: string): Promise<void> {
    if (this.#followers().length > 0) return this.refresh(deploymentId);
    this.#run = undefined;
  }

  /** Reads the deployment again. Tells the followers, and ends the log if its attempt has ended. */
  async refresh(deploymentId: string): Promise<void> {
    const row = await this.#readRun(deploymentId);
    if (!row) return this.erase();
    this.#run = toRun(row);
    const ended = endedAttemptOf(row) ?? this.#deletedAttempt(row);
    if (ended) await this.#end(row, ended);
    else if (this.#log) this.#save({ ...this.#log, isCanceling: row.status === "canceling" });
    this.#notifications.send(this.#followers().length);
  }

  /** The row of an ended attempt is deleted with its pool. */
  #deletedAttempt({ attemptId: current }: RunRow): EndedAttempt | undefined {
    if (!this.#log || current !== null) return undefined;
    return { attemptId: this.#log.attemptId, endedAt: Date.now(), declaration: null };
  }

  /** Deletes the log. */
  async erase(): Promise<void> {
    this.#log = undefined;
    this.#run = undefined;
    this.#size = 0;
    for (const socket of this.#followers()) socket.close(1000, "The log is deleted.");
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  /** Accepts a follower's WebSocket. */
  override fetch(): Response {
    const followers = this.#followers().length;
    if (followers >= LIMITS.logFollowers.value) return new Response(null, { status: 429 });
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    server.send(this.#notification());
    return new Response(null, { status: 101, webSocket: client });
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  override async alarm(): Promise<void> {
    const log = this.#log;
    if (!log) return;
    const dueAt = dueAtOf(log);
    // An alarm that is late may find that the next one is not due.
    if (Date.now() < dueAt) return this.ctx.storage.setAlarm(dueAt);
    if (log.sealedAt !== null) return this.erase();
    if (log.endedAt !== null) return this.#seal(log);
    await this.ctx.storage.setAlarm(Date.now() + UNNOTIFIED_MS);
    await this.refresh(log.deploymentId);
  }

  /** Creates the log of an attempt that runs, or that has ended before this object was notified. */
  async #open({ deploymentId, attemptId }: AppendRequest): Promise<void> {
    const row = await this.#readRun(deploymentId);
    if (this.#log || row?.attemptId !== attemptId) return;
    this.#run = toRun(row);
    const ended = endedAttemptOf(row);
    if (ended && isOpenAfterEnd(ended)) return this.#end(row, ended);
    if (!isRunning(row)) return;
    this.#create(row, attemptId);
    await this.ctx.storage.setAlarm(Date.now() + UNNOTIFIED_MS);
  }

  #create({ deploymentId, status }: RunRow, attemptId: string): StoredLog {
    const log: StoredLog = {
      deploymentId,
      attemptId,
      endedAt: null,
      run: null,
      declaration: null,
      isFull: false,
      isCanceling: status === "canceling",
      sealedAt: null,
      isTruncated: false,
    };
    this.#save(log);
    return log;
  }

  #save(log: StoredLog): void {
    this.#store.save(log);
    this.#log = log;
  }

  /** One after the other, so that an older state never replaces a newer one. */
  #readRun(deploymentId: string): Promise<RunRow | null> {
    const read = () => findRun(this.env.DB, deploymentId);
    this.#refreshing = this.#refreshing.then(read, read);
    return this.#refreshing;
  }

  /** After the end of the attempt, only the bytes that the runner has declared are missing. */
  #appendable({ declaration, isFull, sealedAt }: StoredLog) {
    const limit = Math.min(LIMIT, declaration?.size ?? LIMIT);
    return { size: this.#sentSize, limit, isFull, isSealed: sealedAt !== null };
  }

  #plan({ attemptId, offset, bytes }: AppendRequest): AppendPlan {
    const log = this.#log;
    if (log?.attemptId !== attemptId) return { kind: "sealed" };
    return planAppend(this.#appendable(log), { offset, length: bytes.length });
  }

  #bytesToReserve(request: AppendRequest): number {
    const plan = this.#plan(request);
    if (plan.kind !== "accepted" || plan.kept === 0 || !this.#log) return 0;
    const { limit } = this.#appendable(this.#log);
    return bytesToReserve({ end: this.#size + plan.kept, reserved: this.#reservedSize, limit });
  }

  /** Takes no other bytes in the meantime, so that they stay in order. */
  #reserve(request: AppendRequest): Promise<void> {
    const { limitsOrganizationId: id } = request;
    return this.ctx.blockConcurrencyWhile(async () => {
      const bytes = this.#bytesToReserve(request);
      const log = this.#log;
      if (!log || bytes === 0) return;
      const reserved = await reserveBytes(this.env.ORGANIZATION_LIMITER, id, bytes);
      this.#save({ ...log, reservedSize: this.#reservedSize + reserved });
    });
  }

  /** Stores what is reserved of the bytes. */
  #keep(log: StoredLog, stackId: string, bytes: Uint8Array): void {
    const reserved = bytes.subarray(0, this.#reservedSize - this.#size);
    if (reserved.length > 0) this.#write(stackId, reserved);
    if (this.#size >= LIMIT) this.#close(log, stackId, CLOSING_LINES.ofLog);
    else if (reserved.length < bytes.length) this.#close(log, stackId, CLOSING_LINES.ofDay);
    this.#notifications.send(this.#followers().length);
  }

  #write(stackId: string, bytes: Uint8Array): void {
    this.#store.append({ offset: this.#size, stackId, time: Date.now(), bytes });
    this.#size += bytes.length;
  }

  /** Adds the line that states that the rest is not kept. */
  #close(log: StoredLog, stackId: string, line: string): void {
    const sentSize = this.#size;
    this.#write(stackId, new TextEncoder().encode(line));
    this.#save({ ...log, isFull: true, sentSize });
  }

  async #end(row: RunRow, { attemptId, endedAt, declaration }: EndedAttempt): Promise<void> {
    const log = this.#log ?? this.#create(row, attemptId);
    if (log.endedAt === null) {
      const ended = { ...log, endedAt, declaration, run: toRun(row) };
      this.#save(ended);
      await this.ctx.storage.setAlarm(dueAtOf(ended));
    }
    await this.#sealIfComplete();
  }

  async #sealIfComplete(): Promise<void> {
    const log = this.#log;
    if (!log || log.endedAt === null || log.sealedAt !== null) return;
    const isComplete = !log.declaration || log.isFull || this.#size >= log.declaration.size;
    if (isComplete) await this.#seal(log);
  }

  /** Takes no bytes in the meantime. If it fails, the alarm repeats it. */
  #seal(log: StoredLog): Promise<void> {
    return this.ctx.blockConcurrencyWhile(async () => {
      if (this.#log?.sealedAt !== null) return;
      const isTruncated = !(await this.#isAsDeclared(log));
      const sealed = { ...log, sealedAt: Date.now(), isTruncated };
      this.#save(sealed);
      await this.ctx.storage.setAlarm(dueAtOf(sealed));
      this.#notifications.send(this.#followers().length);
    });
  }

  async #isAsDeclared({ declaration, isFull }: StoredLog): Promise<boolean> {
    if (!declaration) return !isFull;
    if (declaration.size !== this.#sentSize) return false;
    return (await sha256OfChunks(this.#store.chunksBefore(this.#sentSize))) === declaration.sha256;
  }

  /** Without the closing line. */
  get #sentSize(): number {
    return this.#log?.sentSize ?? Math.min(this.#size, LIMIT);
  }

  /** Stored bytes need no reservation. */
  get #reservedSize(): number {
    return Math.max(this.#log?.reservedSize ?? 0, this.#size);
  }

  #followers(): WebSocket[] {
    return this.ctx.getWebSockets();
  }

  #notification(): string {
    const notification: LogNotification = { log: this.describe(), run: this.#run };
    return JSON.stringify(notification);
  }

  #notify(): void {
    const text = this.#notification();
    for (const socket of this.#followers()) {
      try {
        socket.send(text);
      } catch (error) {
        // It has just been closed.
        consoleLog("info", "log.follower_gone", describeError(error));
      }
    }
  }
}

/** When the log ends or is deleted. Of a log that is not notified of the end, any time. */
function dueAtOf({ endedAt, sealedAt }: StoredLog): number {
  if (endedAt === null) return 0;
  return endedAt + (sealedAt === null ? LIMITS.logSealsMs : LIMITS.logRetentionMs).value;
}

function isRunning({ state, lostAt }: RunRow): boolean {
  return state === "running" && Date.now() < (lostAt ?? 0);
}

/** Not later: the log has been deleted then. */
function isOpenAfterEnd({ endedAt, declaration }: EndedAttempt): boolean {
  return declaration !== null && Date.now() < endedAt + LIMITS.logSealsMs.value;
}
