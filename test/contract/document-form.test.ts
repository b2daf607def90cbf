import { describe, expect, it } from "vitest";
import { title } from "../support/authenticated-operations.ts";
import { Client, type Parsed } from "../support/client.ts";
import {
  exampleBody,
  openApi,
  operations,
  published,
  publishedOperations,
  sendsText,
} from "../support/contract.ts";

function allOfsIn(value: unknown): object[][] {
  if (typeof value !== "object" || value === null) return [];
  const nested = Object.values(value).flatMap(allOfsIn);
  return "allOf" in value ? [value.allOf as object[], ...nested] : nested;
}

describe("the document", () => {
  it("is OpenAPI 3.1 and names every operation once", () => {
    expect(openApi.openapi).toBe("3.1.0");
    const names = operations.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(operations.length);
  });

  it.each(publishedOperations.map((each) => [title(each), each] as const))(
    "describes %s in full",
    (_, operation) => {
      expect(operation.summary).not.toBe("");
      expect(operation.tags).toHaveLength(1);
      if (operation.requestBody) {
        expect(operation.requestBody.required).toBe(true);
        if (sendsText(operation)) return;
        expect(exampleBody(operation)).toBeTypeOf("object");
      }
    },
  );

  it("describes a reference beside it, because client generators drop an allOf of the two", () => {
    const { components } = openApi as unknown as {
      components: { schemas: Record<string, Parsed> };
    };
    const { Identifier, Timestamp, Delivery, Deployment } = components.schemas;
    expect(Identifier.description).toBe("An identifier in its 22-character form.");
    expect(Timestamp.description).toBe("RFC 3339, in UTC with milliseconds.");
    expect(Deployment.properties.status).toEqual({ $ref: "#/components/schemas/DeploymentStatus" });
    expect(Delivery.properties.next_attempt_at).toEqual({
      $ref: "#/components/schemas/Timestamp",
      description: expect.stringContaining("not sent before"),
    });
    expect(components.schemas["PingEvent"].properties.id).toMatchObject({
      $ref: "#/components/schemas/Identifier",
      description: "The ID of the event, as in `webhook-id`.",
    });
  });

  it("keeps an intersection only where a schema adds properties to another", () => {
    const intersections = allOfsIn(openApi);
    expect(intersections.length).toBeGreaterThan(0);
    for (const parts of intersections) {
      expect(parts.slice(1).map((part) => Object.keys(part))).toEqual([
        expect.arrayContaining(["type", "properties"]),
      ]);
    }
  });

  it("is served unchanged at /openapi.json", async () => {
    const reply = await new Client(undefined).get("/openapi.json");
    expect(reply.body).toEqual(published);
  });
});
