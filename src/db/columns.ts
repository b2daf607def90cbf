import { integer, text } from "drizzle-orm/sqlite-core";

/** An ID in its 22-character form. */
export const id = (name: string) => text(name);

/** Milliseconds since the Unix epoch. */
export const time = (name: string) => integer(name);

export const createdAt = () => time("created_at").notNull();
export const updatedAt = () => time("updated_at").notNull();

/** Increases with every write of the record by a caller. The first part of the record's ETag. */
export const recordVersion = () => integer("record_version").notNull().default(1);
