import { createApp } from "../../src/app.ts";
import { describeApi, type OpenApiDocument } from "../../src/document/describe-api.ts";

/** The OpenAPI document. The build writes it to a file, so that no Worker has to generate it. */
export function readDocument(): OpenApiDocument {
  return describeApi(createApp().operations);
}
