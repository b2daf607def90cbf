import { createHash } from "node:crypto";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";

// The tests, which have another NODE_ENV, run the same files as a deployment.
process.env["NODE_ENV"] = "production";

/** The parser of .env files is in one file with functions for Node, which the console does not call. */
const WITHOUT_NODE = join(import.meta.dirname, "src/node-modules-stub.ts");

/** Names the build in the document and in a file, by which an open tab notices another build (src/build.ts). */
function nameBuild(): Plugin {
  let build = "";
  return {
    name: "name-build",
    transformIndexHtml: {
      order: "post",
      handler: (html) => {
        build = createHash("sha256").update(html).digest("hex").slice(0, 16);
        return [{ tag: "meta", attrs: { name: "build", content: build }, injectTo: "head" }];
      },
    },
    generateBundle: {
      order: "post",
      handler() {
        const source = JSON.stringify({ build });
        this.emitFile({ type: "asset", fileName: "build.json", source });
      },
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  plugins: [nameBuild()],
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
