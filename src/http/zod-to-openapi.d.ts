declare module "@asteasolutions/zod-to-openapi/dist/index.mjs" {
  export * from "@asteasolutions/zod-to-openapi";
}
