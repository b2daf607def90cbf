/**
 * The whole body of an answer as text, or undefined if it has more bytes than `maximum`, breaks off,
 * or is not at its end when the signal comes. No more of it is read than that takes.
 */
export async function readWhole(
  response: Response,
  maximum: number,
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
      if (bytes > maximum) return undefined;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return undefined;
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
