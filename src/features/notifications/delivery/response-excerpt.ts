import { LIMITS } from "../../../lib/limits.ts";

const READ_BYTES = LIMITS.responseReadBytes.value;
const KEPT_BYTES = LIMITS.responseExcerptBytes.value;

/** The beginning of a response as text, or why it could not be read. */
export type Excerpt = { text: string } | { error: unknown; bytesRead: number };

/** Cuts the text between two characters, and replaces what is not UTF-8. */
export async function readExcerpt(response: Response, signal: AbortSignal): Promise<Excerpt> {
  const kept = new Uint8Array(KEPT_BYTES);
  let bytesRead = 0;
  const reader = response.body?.getReader();
  if (!reader) return { text: "" };
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  try {
    while (bytesRead < READ_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      if (bytesRead < KEPT_BYTES) kept.set(value.subarray(0, KEPT_BYTES - bytesRead), bytesRead);
      bytesRead += value.length;
    }
    if (signal.aborted) return { error: signal.reason, bytesRead };
    return { text: toText(kept.subarray(0, bytesRead)) };
  } catch (error) {
    return { error, bytesRead };
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

function toText(bytes: Uint8Array): string {
  // Streaming holds back a character that is not whole. A NUL would end the text for SQLite.
  const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  const text = decoder.decode(bytes, { stream: true });
  return text.replaceAll("\0", "\ufffd");
}
