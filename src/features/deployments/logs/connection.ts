import { RateLimited } from "../../../lib/errors.ts";
import { callLog, LOG_TIMEOUT, type LogObjects } from "./client.ts";
import type { LogNotification } from "./messages.ts";

const RETRY_SECONDS = 10;
const FIRST_NOTIFICATION_MS = 5_000;

/** A follower's WebSocket to a log, which sends what has changed, but no bytes of the log. */
export class LogConnection {
  readonly #socket: WebSocket;
  #latest: LogNotification | undefined;
  #isClosed = false;
  #wake: () => void = () => undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      this.#receive(JSON.parse(String(data)) as LogNotification);
    });
    for (const type of ["close", "error"] as const) {
      socket.addEventListener(type, () => this.close());
    }
    socket.accept();
  }

  /**
   * @throws RateLimited if the log has too many followers.
   * @throws `timeout` if the log does not respond.
   */
  static async open(deps: LogObjects, deploymentId: string): Promise<LogConnection> {
    const response = await callLog(deps, deploymentId, (stub) =>
      stub.fetch("https://log/", { headers: { upgrade: "websocket" } }),
    );
    if (!response.webSocket) throw new RateLimited(RETRY_SECONDS);
    const connection = new LogConnection(response.webSocket);
    if (!connection.#latest) await connection.waitForChange(FIRST_NOTIFICATION_MS);
    if (connection.#latest) return connection;
    connection.close();
    throw LOG_TIMEOUT;
  }

  get latest(): LogNotification {
    if (!this.#latest) throw new Error("The log has sent nothing yet");
    return this.#latest;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Waits for a notification, for the end of the connection, or for so long. */
  async waitForChange(maximumMs: number): Promise<void> {
    if (this.#isClosed) return;
    const change = this.#change();
    const timer = setTimeout(this.#wake, maximumMs);
    await change;
    clearTimeout(timer);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.close();
    this.#wake();
  }

  #receive({ log, run }: LogNotification): void {
    this.#latest = { log, run: run ?? this.#latest?.run };
    this.#wake();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
