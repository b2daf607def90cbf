import type { StoredBytes } from "./chunk-store.ts";
import type { Run } from "./run.ts";

export interface AppendRequest {
  deploymentId: string;
  attemptId: string;
  /** The organization whose bytes of the day count. */
  limitsOrganizationId: string;
  stackId: string;
  /** Of the first byte, in the output of the attempt. */
  offset: number;
  bytes: Uint8Array;
}

export type AppendResult =
  | { kind: "accepted"; nextOffset: number; isCanceling: boolean; hasEnded: boolean }
  | { kind: "gap"; nextOffset: number }
  /** The log has ended, or the attempt does not run. */
  | { kind: "ended" };

export interface LogSize {
  /** In bytes. */
  size: number;
  isSealed: boolean;
  /** Whether bytes are missing. */
  isTruncated: boolean;
}

export interface LogContent extends StoredBytes {
  /** Undefined: there is no log. */
  log: LogSize | undefined;
}

/** What the log sends to its followers when it changes. */
export interface LogNotification {
  log: LogSize | undefined;
  /** Undefined: not read since the object was loaded. */
  run: Run | undefined;
}

/** `AttemptLog` as others call it. The types of remote calls are too wide for unions. */
export interface LogStub {
  append(request: AppendRequest): Promise<AppendResult>;
  read(after: number, maximumBytes: number, stackId?: string): Promise<LogContent>;
  refresh(deploymentId: string): Promise<void>;
  refreshFollowers(deploymentId: string): Promise<void>;
  erase(): Promise<void>;
  fetch(url: string, init: RequestInit): Promise<Response>;
}
