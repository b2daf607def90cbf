/** Drops the entry whose last `set` is the oldest. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #capacity: number;

  constructor(capacity: number) {
    super();
    this.#capacity = capacity;
  }

  override set(key: Key, value: Value): this {
    super.delete(key);
    super.set(key, value);
    if (this.size > this.#capacity) {
      for (const oldest of this.keys()) {
        super.delete(oldest);
        break;
      }
    }
    return this;
  }
}
