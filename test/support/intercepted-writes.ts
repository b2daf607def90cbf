import { env } from "cloudflare:workers";

interface Watcher {
  /** Before the first batch that writes. */
  before?(): Promise<unknown>;
  /** After it, and for each later call. */
  after?(): void;
}

// The lookup of an idempotency entry deletes it if it is too old.
const WRITE = /^(insert|update|delete(?! from "idempotency_records"))/;

/** Watches the first batch of a request that writes. */
function watchFirstWrite({ before, after }: Watcher): D1Database {
  let hasWritten = false;
  const sqlOf = new WeakMap<object, string>();
  const watch = (sql: string, statement: D1PreparedStatement): D1PreparedStatement => {
    sqlOf.set(statement, sql);
    const bind = statement.bind.bind(statement);
    return Object.assign(statement, {
      bind: (...values: unknown[]) => {
        const bound = bind(...values);
        sqlOf.set(bound, sql);
        return bound;
      },
    });
  };
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    return {
      prepare: (sql: string) => {
        if (hasWritten) after?.();
        return watch(sql, session.prepare(sql));
      },
      batch: async (statements: D1PreparedStatement[]) => {
        if (hasWritten) after?.();
        const writes = statements.some((each) => WRITE.test(String(sqlOf.get(each))));
        if (!hasWritten && writes) await before?.();
        const results = await session.batch(statements);
        hasWritten ||= writes;
        if (hasWritten) after?.();
        return results;
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

/** Another request comes between the reads of a request and its write. */
export const beforeWrite = (before: () => Promise<unknown>) => watchFirstWrite({ before });

/** Commits the first batch that writes, and then fails, as does a lost response. */
export const failingAfterWrite = () =>
  watchFirstWrite({
    after: () => {
      throw new Error("D1_ERROR: Network connection lost.");
    },
  });
