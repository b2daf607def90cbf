import { Agent } from "undici";

const send = globalThis.fetch;

/**
 * Gives each request of a test a connection of its own. The runtime closes one on which nothing has come for 15 s, and a
 * process that was busy for that long would still use it. Not with the header `connection: close`: if the test does not
 * read the body, undici then throws outside of the request once the runtime has closed the connection.
 */
const fetchOnOwnConnection: typeof fetch = (input, init) => {
  const options: object = { ...init, dispatcher: new Agent({ keepAliveTimeout: 1 }) };
  return send(input, options);
};

// Each file of tests runs this once more in the same process.
if (send.name !== fetchOnOwnConnection.name) globalThis.fetch = fetchOnOwnConnection;
