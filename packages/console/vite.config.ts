import { join } from "node:path";
import { defineConfig } from "vite";

// The tests, which have another NODE_ENV, run the same files as a deployment.
process.env["NODE_ENV"] = "production";

/** The parser of .env files is in one file with functions for Node, which the console does not call. */
const WITHOUT_NODE = join(import.meta.dirname, "src/node-modules-stub.ts");

// The folder is the root of the static assets, so the pages are below the path that they have in the Worker.
export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  resolve: { alias: { fs: WITHOUT_NODE, os: WITHOUT_NODE, path: WITHOUT_NODE, url: WITHOUT_NODE } },
  build: {
    outDir: "dist/console",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
