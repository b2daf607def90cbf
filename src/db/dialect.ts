import {
  Column,
  getTableName,
  isSQLWrapper,
  Name,
  Param,
  Placeholder,
  type QueryWithTypings,
  SQL,
  type SQLChunk,
  StringChunk,
  Subquery,
  Table,
} from "drizzle-orm";
import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";

/**
 * Writes the same texts as Drizzle's dialect in less than half the time. That one finds out what a part of a
 * statement is by up to eleven walks along its prototypes, because it may have been made by another copy of
 * Drizzle, and joins the text of each part with the next one.
 */
export class Dialect extends SQLiteAsyncDialect {
  override sqlToQuery(statement: SQL): QueryWithTypings {
    const query = { sql: "", params: [] };
    this.#write(query, statement);
    return query;
  }

  #write(query: QueryWithTypings, part: SQLChunk): void {
    if (typeof part !== "object" || part === null) {
      if (part !== undefined) this.#bind(query, part);
    } else if (part instanceof StringChunk) {
      for (const text of part.value) query.sql += text;
    } else if (part instanceof SQL) {
      for (const chunk of part.queryChunks) this.#write(query, chunk);
    } else if (part instanceof Column) {
      query.sql += `${this.escapeName(getTableName(part.table))}.${this.escapeName(part.name)}`;
    } else if (part instanceof Param) {
      this.#writeParam(query, part);
    } else if (Array.isArray(part)) {
      this.#writeList(query, part);
    } else {
      this.#writeOther(query, part);
    }
  }

  #writeOther(query: QueryWithTypings, part: object): void {
    if (part instanceof Table) {
      query.sql += this.escapeName(getTableName(part));
    } else if (part instanceof Name) {
      query.sql += this.escapeName(part.value);
    } else if (part instanceof SQL.Aliased && part.fieldAlias !== undefined) {
      query.sql += this.escapeName(part.fieldAlias);
    } else if (part instanceof Subquery) {
      this.#writeSubquery(query, part);
    } else if (!(part instanceof Placeholder) && isSQLWrapper(part)) {
      this.#writeNested(query, part.getSQL());
    } else {
      this.#bind(query, part);
    }
  }

  #writeSubquery(query: QueryWithTypings, { _: { sql, alias, isWith } }: Subquery): void {
    if (!isWith) {
      this.#writeNested(query, sql);
      query.sql += " ";
    }
    query.sql += this.escapeName(alias);
  }

  #writeNested(query: QueryWithTypings, statement: SQL): void {
    query.sql += "(";
    this.#write(query, statement);
    query.sql += ")";
  }

  #writeList(query: QueryWithTypings, parts: readonly SQLChunk[]): void {
    query.sql += "(";
    for (const [at, part] of parts.entries()) {
      if (at > 0) query.sql += ", ";
      this.#write(query, part);
    }
    query.sql += ")";
  }

  #writeParam(query: QueryWithTypings, param: Param): void {
    const { value, encoder } = param;
    const isKnown = value !== null && !(value instanceof Placeholder);
    const bound: unknown = isKnown ? encoder.mapToDriverValue(value) : value && param;
    if (bound instanceof SQL) this.#write(query, bound);
    else this.#bind(query, bound);
  }

  #bind(query: QueryWithTypings, value: unknown): void {
    query.sql += "?";
    query.params.push(value);
  }
}
