import { and, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import { validator } from "hono/validator";
import { z } from "zod";
import { apiKeys } from "../src/features/identity/credentials/api-key-table.ts";
import { memberships } from "../src/features/tenancy/member-table.ts";
import { projectMembers } from "../src/features/tenancy/project-member-table.ts";
import { projects } from "../src/features/tenancy/project-table.ts";
import { sha256Hex } from "../src/lib/digest.ts";
import type { RateLimiter } from "../src/rate-limits/rate-limiter.do.ts";

export { AttemptLog } from "../src/features/deployments/logs/attempt-log.do.ts";
export { HostLimiter } from "../src/features/notifications/delivery/host-limiter.do.ts";
export { OrganizationLimiter } from "../src/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../src/rate-limits/rate-limiter.do.ts";

interface Idiomatic {
  Bindings: { DB: D1Database; RATE_LIMITER: DurableObjectNamespace<RateLimiter> };
  Variables: { membershipId: string; organizationId: string };
}

const SECRET = { start: "lsh_".length + 22 + "_".length, length: 43 };
const Params = z.object({ project_id: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{22}$/) });

/** Sequential: first the row of the key, then the limiter. */
const authenticate = createMiddleware<Idiomatic>(async (c, next) => {
  const key = c.req.header("x-api-key") ?? "";
  const secret = key.slice(SECRET.start, SECRET.start + SECRET.length);
  const secretHash = await sha256Hex(secret);
  const [found] = await drizzle(c.env.DB)
    .select({
      membershipId: apiKeys.membershipId,
      organizationId: apiKeys.organizationId,
      role: memberships.role,
      version: apiKeys.keyVersion,
    })
    .from(apiKeys)
    .innerJoin(memberships, eq(memberships.id, apiKeys.membershipId))
    .where(eq(apiKeys.secretHash, secretHash));
  if (!found) return c.json({ code: "unauthenticated" }, 401);
  const limiter = c.env.RATE_LIMITER.getByName(secretHash);
  const result = await limiter.consume(
    "default",
    found.version,
    found.organizationId,
    undefined,
    found.membershipId,
    crypto.randomUUID(),
    { exemptFromBudget: false, cost: undefined },
  );
  if (!result.admitted) return c.json({ code: "rate" }, 429);
  c.set("membershipId", found.membershipId);
  c.set("organizationId", found.organizationId);
  c.header("x-ratelimit-remaining", String(result.remaining));
  return next();
});

const validateParams = validator("param", (value, c) => {
  const parsed = Params.safeParse(value);
  return parsed.success ? parsed.data : c.json({ code: "bad_input" }, 400);
});

// As the package has it, which the service's bundle replaces: see [alias] in wrangler.toml.
const router = new SmartRouter<never>({ routers: [new RegExpRouter(), new TrieRouter()] });
const app = new Hono<Idiomatic>({ router });

app.get("/v1/projects/:project_id", authenticate, validateParams, async (c) => {
  const [project] = await drizzle(c.env.DB)
    .select()
    .from(projects)
    .innerJoin(
      projectMembers,
      and(
        eq(projectMembers.projectId, projects.id),
        eq(projectMembers.membershipId, c.var.membershipId),
      ),
    )
    .where(
      and(
        eq(projects.organizationId, c.var.organizationId),
        eq(projects.id, c.req.valid("param").project_id),
      ),
    );
  return project ? c.json(project.projects) : c.json({ code: "not_found" }, 404);
});

/** The straightforward implementation: sequential middleware, and no cache of keys. */
// biome-ignore lint/style/noDefaultExport: the runtime requires it.
export default app satisfies ExportedHandler<Idiomatic["Bindings"]>;
