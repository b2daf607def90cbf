const encoder = new TextEncoder();

/**
 * A response body. Asks for a chunk when the client has read the one before. An error breaks it off.
 * @param onEnd Called once, however the stream ends. It must let the generator end.
 */
export function toStream(
  chunks: AsyncGenerator<string | Uint8Array>,
  { onError, onEnd }: { onError(error: unknown): void; onEnd?(): void },
): ReadableStream<Uint8Array> {
  let isCanceled = false;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await chunks.next();
          // The client has disconnected in the meantime.
          if (isCanceled) return;
          if (!done) return controller.enqueue(toBytes(value));
          controller.close();
        } catch (error) {
          if (isCanceled) return;
          onError(error);
          controller.error(new Error("The response broke off."));
        }
        onEnd?.();
      },
      async cancel() {
        isCanceled = true;
        onEnd?.();
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

function toBytes(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === "string" ? encoder.encode(chunk) : chunk;
}
