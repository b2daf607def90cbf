/** Replies like the Worker with the console's files. Those are built for the tests in a browser only. */
export async function consoleFiles(request: { url: string; method: string; headers: Headers }) {
  const { pathname } = new URL(request.url);
  const text = FILES.get(pathname);
  if (text === undefined) return new Response(null, { status: 404 });
  const headers = {
    etag: TAG,
    "content-type": "text/plain",
    "x-got": [...request.headers.keys()].join(),
  };
  if (request.headers.get("if-none-match") === TAG)
    return new Response(null, { status: 304, headers });
  return new Response(request.method === "HEAD" ? null : text, { headers });
}

const TAG = '"1"';

const FILES = new Map([
  ["/console/", "the document"],
  ["/console/assets/index-1.js", "the script"],
]);
