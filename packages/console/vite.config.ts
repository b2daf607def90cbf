import { defineConfig } from "vite";

// The folder is the root of the static assets, so the pages are below the path that they have in the Worker.
export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  build: {
    outDir: "dist/console",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
