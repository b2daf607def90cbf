/** The version of this checkout, which `npm run release` writes. */
export const VERSION = "1.0.0";
