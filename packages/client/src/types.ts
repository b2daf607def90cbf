import type { components, paths } from "./generated/api.ts";

export type Schemas = components["schemas"];

type Method = "get" | "post" | "put" | "patch" | "delete";

/** The paths with an operation of the method. */
export type Path<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];

export type Operation<P, M extends Method> = P extends keyof paths
  ? paths[P] extends Record<M, infer O>
    ? O
    : never
  : never;

type Parameter<O, In extends string> = O extends { parameters: { [K in In]?: infer T } }
  ? NonNullable<T>
  : never;

type PathOption<T> = [T] extends [never] ? { path?: never } : { path: T };

type QueryOption<T> = [T] extends [never]
  ? { query?: never }
  : Record<never, never> extends T
    ? { query?: T }
    : { query: T };

type Headers = Record<string, string>;

type HeaderOption<T> = [T] extends [never]
  ? { headers?: Headers }
  : Record<never, never> extends T
    ? { headers?: Headers }
    : { headers: T & Headers };

type Content<C> = C extends { "application/json": infer T } ? T : string | Uint8Array;

type BodyOption<O> = O extends { requestBody: { content: infer C } }
  ? { body: Content<C> }
  : O extends { requestBody?: infer R }
    ? NonNullable<R> extends { content: infer C }
      ? [NonNullable<R>] extends [never]
        ? { body?: never }
        : { body?: Content<C> }
      : { body?: never }
    : { body?: never };

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Of one try. */
  timeoutMs?: number | undefined;
  /** Of all tries and the pauses between them. */
  totalTimeoutMs?: number | undefined;
  /** The most repeats. */
  retries?: number | undefined;
}

interface KeyedOptions {
  /** Absent: a random one, for all tries of the call. */
  idempotencyKey?: string | undefined;
}

interface VersionedOptions {
  /** The `ETag` of the version to write. Another version is a `conflict`. */
  ifMatch?: string | undefined;
}

interface RepeatOptions {
  /**
   * Whether the request may be repeated without an `Idempotency-Key`. Absent: PUT and DELETE may. The
   * requests of runners have identities of their own.
   */
  isRepeatable?: boolean | undefined;
}

export type WriteOptions = CallOptions & KeyedOptions & VersionedOptions & RepeatOptions;

type Takes<O, Name extends string> = [Parameter<O, "header">] extends [never]
  ? false
  : Name extends keyof Parameter<O, "header">
    ? true
    : false;

/** Only what the operation takes. */
type WriteOptionsOf<O> = CallOptions &
  (Takes<O, "Idempotency-Key"> extends true ? KeyedOptions : RepeatOptions) &
  (Takes<O, "If-Match"> extends true ? VersionedOptions : unknown);

/** What the path needs of the operation. */
export type OptionsOf<O> = PathOption<Parameter<O, "path">> &
  QueryOption<Parameter<O, "query">> &
  HeaderOption<Parameter<O, "header">> &
  BodyOption<O>;

/** The options may be left out if the operation needs none. */
export type Arguments<Options> =
  Record<never, never> extends Options ? [options?: Options] : [options: Options];

export type ReadArguments<P extends Path<"get">> = Arguments<
  OptionsOf<Operation<P, "get">> & CallOptions
>;

export type WriteArguments<P, M extends Method> = Arguments<
  OptionsOf<Operation<P, M>> & WriteOptionsOf<Operation<P, M>>
>;

type Success<O> = O extends { responses: infer R } ? R[keyof R] : never;

type BodyOf<S> = S extends { content: infer C }
  ? C extends { "application/json": infer T }
    ? T
    : string
  : undefined;

/** The body of the successful response. */
export type Result<P, M extends Method> = BodyOf<Success<Operation<P, M>>>;

interface Page {
  data: readonly unknown[];
  has_more: boolean;
}

export type ListPath = {
  [P in Path<"get">]: Result<P, "get"> extends Page ? P : never;
}[Path<"get">];

export type Item<P extends ListPath> =
  Result<P, "get"> extends { data: readonly (infer T)[] } ? T : never;

/** The method that `update` writes with: PUT, if the record has it. */
export type UpdateMethod<P> = Takes<Operation<P, "put">, "If-Match"> extends true ? "put" : "patch";

export type UpdatePath = {
  [P in Path<"get">]: Takes<Operation<P, UpdateMethod<P>>, "If-Match"> extends true ? P : never;
}[Path<"get">];

export type UpdateBody<P> =
  OptionsOf<Operation<P, UpdateMethod<P>>> extends { body?: infer B } ? NonNullable<B> : never;

export type LogEvent =
  | { event: "line"; id: string; data: Schemas["LogLine"] }
  | {
      event: "status";
      id: string;
      data: {
        status: Schemas["DeploymentStatus"];
        stacks: { id: string; status: Schemas["StackStatus"] }[];
      };
    }
  | {
      event: "end";
      id: string;
      data: { status: Schemas["DeploymentStatus"]; truncated: boolean };
    };

/** What the streams of the API send. */
export interface StreamEvents {
  "/v1/deployments/{deployment_id}/logs": LogEvent;
}

export interface StreamOptions {
  /** The longest time without a byte. The service sends one every 15 seconds. */
  idleTimeoutMs?: number | undefined;
}
