/**
 * Replaces the package in the bundle (see [alias] in wrangler.toml): router.ts gives its apps a router of
 * its own, so that those of Hono stay out.
 */
export { HonoBase as Hono } from "hono/hono-base";
