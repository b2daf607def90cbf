import { expect } from "vitest";
import type { Parsed } from "./client.ts";

const AGAIN = "Your session has ended, or its cookie is not valid.";

export function expectSignedOut(reply: { status: number; body: Parsed }): void {
  expect([reply.status, reply.body.code]).toEqual([401, "unauthenticated"]);
  expect(reply.body.message).toContain(AGAIN);
}
