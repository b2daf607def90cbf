import { readFileSync } from "node:fs";

const SERVICE = "d1-objects";
const code = readFileSync(new URL("database-object.mjs", import.meta.url), "utf8");

/**
 * A plugin of Miniflare that binds the Durable Objects with the databases of the tests: see
 * test/support/direct-databases.ts.
 */
export const plugins = {
  "d1-objects": {
    getBindings: ({ config }) => {
      const types = Object.values(config.env ?? {}).map(({ type }) => type);
      if (!types.includes("unsafe:d1-objects")) return [];
      const durableObjectNamespace = { className: "Database", serviceName: SERVICE };
      return [{ name: "D1_OBJECTS", durableObjectNamespace }];
    },
    getNodeBindings: () => ({}),
    getServices: () => [
      {
        name: SERVICE,
        worker: {
          compatibilityDate: "2026-10-01",
          modules: [{ name: "database-object.mjs", esModule: code }],
          durableObjectNamespaces: [{ className: "Database", uniqueKey: SERVICE, enableSql: true }],
          durableObjectStorage: { localDisk: "d1:storage" },
        },
      },
    ],
  },
};
