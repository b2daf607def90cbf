export const DATABASE_PATH = "/database";

export interface SentStatement {
  sql: string;
  parameters: unknown[];
}

interface RemoteStatement extends SentStatement {
  bind(...parameters: unknown[]): RemoteStatement;
  all(): Promise<D1Result>;
  run(): Promise<D1Result>;
  first(): Promise<unknown>;
}

/** The database of another process, as far as the service uses one. */
export function remoteDatabase(origin: string): D1Database {
  const send = async (statements: readonly SentStatement[]): Promise<D1Result[]> => {
    const body = JSON.stringify(statements.map(({ sql, parameters }) => ({ sql, parameters })));
    const response = await fetch(new URL(DATABASE_PATH, origin), { method: "POST", body });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  const prepare = (sql: string, parameters: unknown[] = []): RemoteStatement => {
    const all = async (): Promise<D1Result> => {
      const [result] = await send([{ sql, parameters }]);
      if (!result) throw new Error("The database has returned no result");
      return result;
    };
    const first = async () => (await all()).results[0] ?? null;
    return { sql, parameters, bind: (...bound) => prepare(sql, bound), all, run: all, first };
  };
  const session = { prepare: (sql: string) => prepare(sql), batch: send, getBookmark: () => null };
  return { ...session, withSession: () => session } as unknown as D1Database;
}
