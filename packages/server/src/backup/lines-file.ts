import { open, rename } from "node:fs/promises";

/** Only for this user: a backup has sealed values and hashes of keys. */
const MODE = 0o600;

/** Returns the number of lines. The file has its name only once it is complete. */
export async function writeLines(file: string, lines: AsyncIterable<string>): Promise<number> {
  const partial = `${file}.partial`;
  const handle = await open(partial, "w", MODE);
  let count = 0;
  try {
    for await (const line of lines) {
      await handle.appendFile(`${line}\n`);
      count += 1;
    }
    await handle.chmod(MODE);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(partial, file);
  return count;
}
