import { createApp } from "../../src/app.ts";
import { describeApi, type OpenApiDocument } from "../../src/document/describe-api.ts";

/** The OpenAPI document of the Worker's operations. */
export function readDocument(): OpenApiDocument {
  return describeApi(createApp().operations);
}
