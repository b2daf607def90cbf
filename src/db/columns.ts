import { integer, text } from "drizzle-orm/sqlite-core";

/** An ID in its 22-character form. */
export const id = (name: string) => text(name);

/** Milliseconds since the Unix epoch. */
export const time = (name: string) => integer(name);

export const createdAt = () => time("created_at").notNull();
export const updatedAt = () => time("updated_at").notNull();

/** Counts the writes of a resource by callers. The first part of its ETag. */
export const version = () => integer("record_version").notNull().default(1);
