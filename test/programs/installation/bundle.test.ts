import { describe, expect, it } from "vitest";
import { readDocument } from "../../../scripts/lib/document.ts";
import { useService } from "../support/service.ts";

/** The other tests run the source, which has all of zod. */
describe("the bundle that is deployed", () => {
  const service = useService();

  it("serves the same OpenAPI document as the source", async () => {
    const response = await fetch(new URL("/openapi.json", service.url));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(await readDocument())));
  });

  it.each(["/", "/docs", "/health"])("serves %s", async (path) => {
    expect((await fetch(new URL(path, service.url))).status).toBe(200);
  });
});
