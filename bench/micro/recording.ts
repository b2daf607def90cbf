/** A request to the service, as JSON. */
export interface CallRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** What a statement returned, by the method that ran it. `batch` is its result in a batch. */
export type StatementAnswer = Partial<Record<"all" | "first" | "raw" | "run" | "batch", unknown>>;

export interface Statement {
  sql: string;
  parameters: readonly unknown[];
}

/** A call of a binding other than D1. Only objects have a name. */
export interface BindingCall {
  binding: string;
  name?: string;
  method: string;
  parameters: readonly unknown[];
}

/** One call of the service: its response, and what its bindings were asked and answered. */
export interface Recording {
  status: number;
  body: string;
  /** By their text. */
  statements: Record<string, StatementAnswer>;
  /** By binding and method. */
  answers: Record<string, Record<string, { result?: unknown }>>;
  /** The statements of each round trip to D1. */
  trips: Statement[][];
  calls: BindingCall[];
}

/** The recording, which also has the answers of an earlier one. */
export function withAnswersOf(earlier: Recording, recording: Recording): Recording {
  const bindings = Object.keys({ ...earlier.answers, ...recording.answers });
  return {
    ...recording,
    statements: { ...earlier.statements, ...recording.statements },
    answers: Object.fromEntries(
      bindings.map((name) => [name, { ...earlier.answers[name], ...recording.answers[name] }]),
    ),
  };
}
