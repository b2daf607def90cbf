import { randomBytes } from "node:crypto";
import type { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { type Statement, toDatabase } from "./unprepared-database.ts";

/** In one of the forms that Miniflare takes. */
export type Databases = NonNullable<Parameters<typeof convertV4MiniflareOptions>[0]["d1Databases"]>;

export const COMPATIBILITY_DATE = "2026-10-01";

const BINDING = "DB";
const NAME = "database";
const HOST = "127.0.0.1";
const ENTRYPOINT = "default";

const SCRIPT = `
export default {
  async fetch(request, { ${BINDING}: database, TOKEN }) {
    if (request.headers.get("authorization") !== TOKEN) return new Response(null, { status: 403 });
    const { method, statements } = await request.json();
    try {
      const prepared = statements.map(({ sql, values }) => database.prepare(sql).bind(...values));
      const result = method === "batch" ? database.batch(prepared) : prepared[0][method]();
      return Response.json(await result);
    } catch (error) {
      return Response.json(error.message, { status: 500 });
    }
  },
};`;

/** A Worker of Miniflare that runs the statements of this process alone. */
export class DatabaseWorker {
  readonly #token = randomBytes(32).toString("hex");

  /** @param d1Databases Of which it uses `DB`. */
  options(d1Databases: Databases) {
    return {
      name: NAME,
      modules: true as const,
      script: SCRIPT,
      compatibilityDate: COMPATIBILITY_DATE,
      bindings: { TOKEN: this.#token },
      d1Databases,
      unsafeDirectSockets: [{ host: HOST, port: 0, entrypoint: ENTRYPOINT }],
    };
  }

  async connect(miniflare: Miniflare): Promise<D1Database> {
    return connectDatabase(await this.address(miniflare));
  }

  /** What another process of this user needs to run statements. */
  async address(miniflare: Miniflare): Promise<DatabaseAddress> {
    const { href } = await miniflare.unsafeGetDirectURL(NAME, ENTRYPOINT);
    return { url: href, token: this.#token };
  }
}

export interface DatabaseAddress {
  url: string;
  token: string;
}

/** The database of a `DatabaseWorker` that runs, here or in another process. */
export function connectDatabase({ url, token }: DatabaseAddress): D1Database {
  return toDatabase(async (method, statements) => {
    const response = await fetch(url, {
      method: "POST",
      // The runtime closes a connection that this process, when it is busy, would still use.
      headers: { authorization: token, connection: "close" },
      body: JSON.stringify({ method, statements: statements.map(checked) }),
    });
    const result: unknown = await response.json();
    if (!response.ok) throw new Error(String(result));
    return result;
  });
}

/** @throws If JSON would change a value. */
function checked({ sql, values }: Statement): Statement {
  for (const value of values) {
    const isExact = value === null || /^(string|boolean)$/.test(typeof value);
    if (!isExact && !Number.isFinite(value)) {
      throw new TypeError(`A statement has a value of the type ${typeof value}.`);
    }
  }
  return { sql, values };
}
