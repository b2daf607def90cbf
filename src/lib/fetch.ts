import { REPOSITORY_URL } from "./addresses.ts";
import { VERSION } from "./version.ts";

type OutgoingInit = RequestInit & { headers?: Record<string, string> };

export type Fetch = (url: string, init: OutgoingInit) => Promise<Response>;

export const USER_AGENT = `Longshore/${VERSION} (+${REPOSITORY_URL})`;

/** Firewalls refuse requests without a name. */
export function withUserAgent(fetch: Fetch): Fetch {
  return (url, init) =>
    fetch(url, { ...init, headers: { ...init.headers, "user-agent": USER_AGENT } });
}

/**
 * The body of a response as text. Undefined if the body has more than `maximumBytes`, if the
 * connection breaks, or if `signal` aborts before the end. Cancels the body when it stops reading.
 */
export async function readResponseBody(
  response: Response,
  maximumBytes: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  try {
    const decoder = new TextDecoder();
    let text = "";
    let bytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (signal.aborted) return undefined;
      if (done) return text + decoder.decode();
      bytes += value.length;
      if (bytes > maximumBytes) return undefined;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return undefined;
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
