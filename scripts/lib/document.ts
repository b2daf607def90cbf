import { describeApi, type OpenApiDocument } from "../../src/document/describe-api.ts";
import { loadOperations } from "../../src/document/operations.ts";

/** The OpenAPI document. The build writes it to a file, so that no Worker has to generate it. */
export async function readDocument(): Promise<OpenApiDocument> {
  const operations = await loadOperations();
  return describeApi(operations.filter(({ page }) => !page));
}
