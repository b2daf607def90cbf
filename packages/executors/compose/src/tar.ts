const BLOCK_BYTES = 512;
const READABLE = 0o444;

/** An archive with one file. Source of the form: POSIX.1-1988 (ustar). */
export function createTar(name: string, text: string): Buffer {
  const content = Buffer.from(text);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0);
  header.write(octal(READABLE, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(content.length, 11), 124);
  header.write(octal(0, 11), 136);
  // The checksum is that of a header with spaces in its place.
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\u0000 `, 148);
  const padding = Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES);
  return Buffer.concat([header, content, padding, Buffer.alloc(2 * BLOCK_BYTES)]);
}

function octal(number: number, digits: number): string {
  return number.toString(8).padStart(digits, "0");
}
