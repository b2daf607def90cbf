/** So much of an answer is read at the most, and so much of it is kept. */
const READ_BYTES = 16_384;
const KEPT_BYTES = 1_024;

/**
 * The beginning of an answer as text, cut between two characters; what is no UTF-8 is replaced.
 * Undefined if the answer breaks off, or the signal comes, before so much of it is read.
 */
export async function readBeginning(
  response: Response,
  signal: AbortSignal,
): Promise<string | undefined> {
  const kept = new Uint8Array(KEPT_BYTES);
  let read = 0;
  const reader = response.body?.getReader();
  if (!reader) return "";
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  try {
    while (read < READ_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      if (read < KEPT_BYTES) kept.set(value.subarray(0, KEPT_BYTES - read), read);
      read += value.length;
    }
    return signal.aborted ? undefined : toText(kept.subarray(0, read));
  } catch {
    return undefined;
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
