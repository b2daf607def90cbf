export { Client, type ClientOptions, createClient, type RequestOptions } from "./client.ts";
export {
  ApiError,
  ConnectionError,
  type ErrorCause,
  type ErrorCode,
  LongshoreError,
  TimeoutError,
} from "./errors.ts";
export type { paths } from "./generated/api.ts";
export type { Fetch } from "./transport.ts";
export type {
  CallOptions,
  Item,
  ListPath,
  LogEvent,
  Path,
  Result,
  Schemas,
  UpdatePath,
  WriteOptions,
} from "./types.ts";
