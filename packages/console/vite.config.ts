import { join } from "node:path";
import { defineConfig } from "vite";

// The tests, which have another NODE_ENV, run the same files as a deployment.
process.env["NODE_ENV"] = "production";

/** The parser of .env files is in one file with functions for Node, which the console does not call. */
const WITHOUT_NODE = join(import.meta.dirname, "src/node-modules-stub.ts");

export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  resolve: { alias: { fs: WITHOUT_NODE, os: WITHOUT_NODE, path: WITHOUT_NODE, url: WITHOUT_NODE } },
  build: {
    // The build of the static assets gives another folder: scripts/lib/assets.ts.
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
