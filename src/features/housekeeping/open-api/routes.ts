import { readAsset } from "../../../http/assets.ts";
import type { PublicEnv } from "../../../http/envs.ts";
import { operation } from "../../../http/operation.ts";
import { createRouter } from "../../../http/router.ts";
import { NotFound } from "../../../lib/errors.ts";
import type { Documented } from "./document.ts";

const PATH = "/openapi.json";

const read = operation({
  method: "get",
  path: PATH,
  operationId: "readOpenApiDocument",
  credentials: [],
});

/** The build has written the document: generating it takes tens of milliseconds. */
export const openApiRoutes = createRouter<Documented, PublicEnv>().openapi(read, async (c) => {
  const { method, url } = c.req.raw;
  const file = await readAsset(c.env.ASSETS, new Request(url, { method }), PATH);
  if (!file) throw new NotFound("file");
  file.headers.delete("etag");
  return file;
});
