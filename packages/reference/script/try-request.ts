/** A parameter as its row describes it. */
export interface Parameter {
  name: string;
  location: string;
  isRequired: boolean;
  example: string | undefined;
}

/** What the form of an operation has. */
export interface FilledForm {
  method: string;
  path: string;
  credential: string | undefined;
  key: string;
  /** Empty ones are not sent. */
  values: readonly { name: string; location: string; value: string }[];
  /** Undefined: the operation takes none. */
  body: string | undefined;
}

/** @throws SyntaxError if the body is not JSON. */
export function buildRequest(form: FilledForm): { url: string; init: RequestInit } {
  const { method, credential, key, body } = form;
  const values = form.values.filter(({ value }) => value !== "");
  const headers = new Headers();
  const query = new URLSearchParams();
  let path = form.path;
  for (const { name, location, value } of values) {
    if (location === "path") path = path.replaceAll(`{${name}}`, () => encodeURIComponent(value));
    if (location === "query") query.append(name, value);
    if (location === "header") headers.set(name, value);
  }
  if (key !== "") headers.set(...credentialHeader(credential, key));
  // Without a key, the session of the console is used, if there is one.
  const credentials = key === "" && credential === "api_key" ? "same-origin" : "omit";
  const init: RequestInit = { method, headers, cache: "no-store", credentials };
  if (body !== undefined && body.trim() !== "") {
    JSON.parse(body);
    headers.set("content-type", "application/json");
    init.body = body;
  }
  return { url: query.size > 0 ? `${path}?${query}` : path, init };
}

function credentialHeader(credential: string | undefined, key: string): [string, string] {
  if (credential === "bootstrap_token") return ["authorization", `Bearer ${key}`];
  return ["x-api-key", key];
}

/** Indented, if it is JSON. */
export function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const ADVICE: Record<number, string> = {
  401: "Enter a valid key above, or sign in at the console.",
  403: "Use a key that may do this.",
  404: "Check the values of the path, and that the key may read them.",
  409: "Read the record again, then send the request again.",
  412: "Read the record again, then send the request again.",
  429: "Wait before you send it again.",
};

/** What to do about a status. Empty: nothing. */
export function adviseOn(status: number): string {
  if (status < 400) return "";
  return (
    ADVICE[status] ??
    (status >= 500 ? "Send it again later." : "Correct the request, then send it again.")
  );
}
