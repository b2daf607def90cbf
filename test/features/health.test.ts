import { applyD1Migrations, createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { Client, newAddress } from "../support/client.ts";
import { emptyDatabase } from "../support/empty-database.ts";
import { Instrumented } from "../support/instruments.ts";
import { newWorld } from "../support/world.ts";

describe("health", () => {
  it("is ok if the secrets are set and the database responds", async () => {
    const reply = await new Client(undefined).get("/health");
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        status: "ok",
        missing_secrets: [],
        refused_settings: [],
        missing_tables: [],
        database: "ok",
      },
    ]);
  });

  it("fails if only the database fails", async () => {
    const database = {
      withSession: () => ({ prepare: () => ({ bind: () => ({}) }), getBookmark: () => null }),
    } as unknown as D1Database;
    const { fetch } = new Instrumented({ database });
    const { status, body } = await new Client(undefined, fetch).get("/health");
    expect(status).toBe(500);
    expect(body.cause).toMatchObject({
      missing_secrets: [],
      missing_tables: [],
      database: "unreachable",
    });
  });

  it("names the missing secrets, and states whether the database responds", async () => {
    const broken = {
      ...env,
      BOOTSTRAP_TOKEN: "",
      ENCRYPTION_KEYS: "",
      DB: {
        withSession: () => ({ prepare: () => ({ bind: () => ({}) }), getBookmark: () => null }),
      },
    } as unknown as Env;
    const app = createApp({ log: () => undefined });
    const headers = { "cf-connecting-ip": newAddress() };
    const request = new Request("https://longshore.test/health", { headers });
    const response = await app.fetch(request, broken, createExecutionContext());
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      code: "internal",
      message: "The deployment is incomplete; see cause.",
      cause: {
        request_id: response.headers.get("x-request-id"),
        missing_secrets: ["BOOTSTRAP_TOKEN", "ENCRYPTION_KEYS"],
        refused_settings: ["BOOTSTRAP_TOKEN", "ENCRYPTION_KEYS"].map((name) => ({
          name,
          message: expect.stringMatching(/^It is not set\. Set it to the output of /),
        })),
        missing_tables: [],
        database: "unreachable",
      },
    });
  });

  describe("of a database with pending migrations", () => {
    afterEach(async () => {
      await emptyDatabase(env.DB);
      await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
    });

    it("names every table and the commands that create them, also in the log", async () => {
      const { client } = await newWorld();
      await emptyDatabase(env.DB);
      const { status, body } = await new Client(undefined).get("/health");
      expect(status).toBe(500);
      expect(body.code).toBe("internal");
      expect(body.cause).toMatchObject({ missing_secrets: [], database: "ok" });
      expect(body.cause.missing_tables).toEqual(
        expect.arrayContaining(["api_keys", "projects", "deliveries", "usage"]),
      );
      expect(body.message).toContain("npx wrangler d1 migrations apply DB --local");
      const instrumented = new Instrumented();
      const failed = await new Client(client.key, instrumented.fetch).get("/v1/projects");
      expect(failed.status).toBe(500);
      expect(JSON.stringify(failed.body)).not.toContain("wrangler");
      const [logged] = instrumented.logged.filter(({ level }) => level === "error");
      expect(logged?.fields).toMatchObject({
        message: expect.stringContaining("no such table: api_keys"),
        hint: expect.stringContaining("npx wrangler d1 migrations apply DB --local"),
      });
    });

    it("names only the tables that are missing", async () => {
      await env.DB.batch(
        ["recoveries", "quotas"].map((table) => env.DB.prepare(`drop table ${table}`)),
      );
      const { body } = await new Client(undefined).get("/health");
      expect(body.cause.missing_tables.toSorted()).toEqual(["quotas", "recoveries"]);
    });
  });
});
