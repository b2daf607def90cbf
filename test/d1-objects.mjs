/**
 * A plugin of Miniflare that binds the Durable Objects with the D1 databases, and their names, so that tests
 * can call them without the Worker in between: see test/support/direct-databases.ts.
 */
export const plugins = {
  "d1-objects": {
    getBindings: ({ config }) => {
      const bindings = Object.entries(config.env ?? {});
      if (!bindings.some(([, { type }]) => type === "unsafe:d1-objects")) return [];
      const databases = bindings.filter(([, { type }]) => type === "d1");
      const names = Object.fromEntries(databases.map(([name, { id }]) => [name, id]));
      return [
        // As Miniflare's own Worker has it.
        {
          name: "D1_OBJECTS",
          durableObjectNamespace: { className: "D1DatabaseObject", serviceName: "d1:db" },
        },
        { name: "D1_NAMES", json: JSON.stringify(names) },
      ];
    },
    getNodeBindings: () => ({}),
    getServices: () => [],
  },
};
