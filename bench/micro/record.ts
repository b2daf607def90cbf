import type { BindingCall, Recording, StatementAnswer } from "./recording.ts";

type Recorded = Pick<Recording, "statements" | "answers" | "trips" | "calls">;
type Method = keyof StatementAnswer;
type Callable = Record<string, (...parameters: unknown[]) => unknown>;

/** The same bindings, which write what they are asked and what they answer to `recorded`. */
export function recordBindings(env: object, recorded: Recorded): object {
  const entries = Object.entries(env).map(([name, binding]) => [
    name,
    recordBinding(name, binding, recorded),
  ]);
  return Object.fromEntries(entries);
}

function recordBinding(name: string, binding: unknown, recorded: Recorded): unknown {
  if (typeof binding !== "object" || binding === null) return binding;
  switch (binding.constructor.name) {
    case "D1Database":
      return recordDatabase(binding as D1Database, recorded);
    case "DurableObjectNamespace": {
      const namespace = binding as DurableObjectNamespace;
      return {
        getByName: (object: string) =>
          recordCalls({ binding: name, name: object }, namespace.getByName(object), recorded),
      };
    }
    case "Object":
    case "Array":
      return binding;
    default:
      return recordCalls({ binding: name }, binding, recorded);
  }
}

/** The methods of an object or a binding. Bytes among the parameters become null. */
function recordCalls(
  target: Pick<BindingCall, "binding" | "name">,
  binding: object,
  { answers, calls }: Recorded,
): object {
  return new Proxy(binding, {
    get:
      (_, method) =>
      async (...parameters: unknown[]) => {
        const result = await (binding as Callable)[String(method)]?.(...parameters);
        calls.push({ ...target, method: String(method), parameters: parameters.map(withoutBytes) });
        answers[target.binding] = {
          ...answers[target.binding],
          [String(method)]: result === undefined ? {} : { result },
        };
        return result;
      },
  });
}

function withoutBytes(parameter: unknown): unknown {
  const json = JSON.stringify(parameter, (_, value) => (ArrayBuffer.isView(value) ? null : value));
  return json === undefined ? null : JSON.parse(json);
}

interface RecordedStatement {
  sql: string;
  bound: D1PreparedStatement;
  parameters: readonly unknown[];
}

function recordDatabase(database: D1Database, recorded: Recorded): object {
  const inSession = (session: D1Database | D1DatabaseSession) => ({
    prepare: (sql: string) => recordStatement({ sql, bound: session.prepare(sql) }, recorded),
    batch: async (statements: readonly RecordedStatement[]) => {
      recorded.trips.push(statements.map(({ sql, parameters }) => ({ sql, parameters })));
      const results = await session.batch(statements.map(({ bound }) => bound));
      for (const [at, { sql }] of statements.entries()) {
        save(recorded, sql, "batch", results[at]);
      }
      return results;
    },
  });
  return {
    ...inSession(database),
    withSession: (constraint: string) => {
      const session = database.withSession(constraint);
      return { ...inSession(session), getBookmark: () => session.getBookmark() };
    },
  };
}

function recordStatement(
  {
    sql,
    bound,
    parameters = [],
  }: Omit<RecordedStatement, "parameters"> & Partial<RecordedStatement>,
  recorded: Recorded,
): object {
  const run = (method: Exclude<Method, "batch">) => async () => {
    recorded.trips.push([{ sql, parameters }]);
    const result = await (bound as unknown as Callable)[method]?.();
    save(recorded, sql, method, result);
    return result;
  };
  return {
    ...{ sql, bound, parameters },
    bind: (...values: unknown[]) =>
      recordStatement({ sql, bound: bound.bind(...values), parameters: values }, recorded),
    ...{ all: run("all"), first: run("first"), raw: run("raw"), run: run("run") },
  };
}

/** @throws If the same statement had another result, which a replay by its text could not tell apart. */
function save({ statements }: Recorded, sql: string, method: Method, result: unknown): void {
  const answer = statements[sql] ?? {};
  if (method in answer && rowsOf(answer[method]) !== rowsOf(result)) {
    throw new Error(`One call runs this statement twice, with other results: ${sql}`);
  }
  statements[sql] = { ...answer, [method]: result };
}

function rowsOf(result: unknown): string | undefined {
  const isResult = typeof result === "object" && result !== null && "results" in result;
  return JSON.stringify(isResult ? result.results : result);
}
