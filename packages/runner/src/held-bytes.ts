const FIRST_CAPACITY = 65_536;

/** The last bytes of a stream, by their positions. Copies each byte a limited number of times. */
export class HeldBytes {
  #buffer = Buffer.allocUnsafe(FIRST_CAPACITY);
  #start = 0;
  #end = 0;
  /** The position of the byte at `#start`. */
  #position = 0;

  append(bytes: Uint8Array): void {
    const size = this.#end - this.#start;
    if (this.#end + bytes.length > this.#buffer.length) {
      const needed = 2 * (size + bytes.length);
      const target = needed > this.#buffer.length ? Buffer.allocUnsafe(needed) : this.#buffer;
      this.#buffer.copy(target, 0, this.#start, this.#end);
      this.#buffer = target;
      this.#start = 0;
      this.#end = size;
    }
    this.#buffer.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Valid until bytes are appended. */
  read(from: number, to: number): Buffer {
    const shift = this.#start - this.#position;
    return this.#buffer.subarray(from + shift, to + shift);
  }

  dropBefore(position: number): void {
    this.#start += position - this.#position;
    this.#position = position;
  }
}
