const send = globalThis.fetch;

/**
 * Gives each request of a test a connection of its own. The runtime closes one on which nothing has come for 15 s, and a
 * process that was busy for that long would still use it.
 */
const fetchOnOwnConnection: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : {}));
  headers.set("connection", "close");
  return send(input, { ...init, headers });
};

// Each file of tests runs this once more in the same process.
if (send.name !== fetchOnOwnConnection.name) globalThis.fetch = fetchOnOwnConnection;
