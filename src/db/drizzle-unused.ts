/** Stands in for the parts of Drizzle that the bundle leaves out: see [alias] in wrangler.toml. */
function unused(): never {
  throw new Error("This part of Drizzle is left out of the bundle");
}

export {
  unused as createTableRelationsHelpers,
  unused as extractTablesRelationalConfig,
  unused as getOperators,
  unused as getOrderByOperators,
  unused as mapRelationalRow,
  unused as normalizeRelation,
};

export class Many {}
export class One {}
export class RelationalQueryBuilder {}

/** Of Postgres, which none of our columns is of. */
export const isPgEnum = () => false;
