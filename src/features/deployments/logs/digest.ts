import { toHex } from "../../../lib/radix.ts";
import type { LogChunk } from "./model.ts";

/** The SHA-256 of the bytes of consecutive chunks, in hexadecimal, in lower case. */
export async function sha256OfChunks(chunks: Iterable<LogChunk>): Promise<string> {
  const stream = new crypto.DigestStream("SHA-256");
  const writer = stream.getWriter();
  for (const { bytes } of chunks) await writer.write(bytes);
  await writer.close();
  return toHex(new Uint8Array(await stream.digest));
}
