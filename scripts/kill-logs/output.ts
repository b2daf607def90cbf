import { pick, randomNumbers } from "./random.ts";

const MASK = "***";

/** The masked variables of the deployment. */
export const SECRETS = {
  API_TOKEN: { storage_method: "secret", value: "tok-31415926" },
  /** Begins with the value of another secret. */
  ADMIN_TOKEN: { storage_method: "secure_string", value: "tok-31415926-admin-5358" },
  /** Has characters that JSON and URLs escape. */
  DB_PASSWORD: { storage_method: "secret", value: 'p@ss "word"\\back/50%+ñ&=' },
  SIGNING_KEY: {
    storage_method: "secure_string",
    value: "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n",
  },
} as const;

/** Variables that a log shows: one that is no secret, and one that is too short to be masked. */
export const SHOWN = {
  REGION: { storage_method: "string", value: "eu-central-1" },
  PIN: { storage_method: "secret", value: "7x!" },
} as const;

/** Forms in which a value must not be in a log. */
const FORMS: readonly [(value: string) => string, ...((value: string) => string)[]] = [
  (value) => value,
  (value) => Buffer.from(value).toString("base64"),
  encodeURIComponent,
  (value) => JSON.stringify(value).slice(1, -1),
];

/** Bytes that the command prints, and how the log must have them. */
export interface Piece {
  printed: Buffer;
  masked: Buffer;
}

export function formsOfSecrets(): string[] {
  return Object.values(SECRETS).flatMap(({ value }) => FORMS.map((form) => form(value)));
}

/** At least so many bytes, which are the same for the same seed. */
export function* makeOutput(bytes: number, seed: number): Generator<Piece> {
  const random = randomNumbers(seed);
  for (let size = 0; size < bytes; ) {
    const piece = makePiece(random);
    yield piece;
    size += piece.printed.length;
  }
}

const [first, ...others] = Object.values(SECRETS).map(({ value }) => value);
const VALUES: readonly [string, ...string[]] = [first ?? "", ...others];

function makePiece(random: () => number): Piece {
  const kind = random();
  const secret = () => pick(FORMS, random)(pick(VALUES, random));
  if (kind < 0.7) return plain(`${makeText(random)}\n`);
  if (kind < 0.85) return masked(`value=${secret()};\n`, `value=${MASK};\n`);
  // One mask stands for all bytes in a row that are masked.
  if (kind < 0.9) return masked(`[${secret()}${secret()}]\n`, `[${MASK}]\n`);
  if (kind < 0.95) return makeAlmostSecret(random);
  // A line without its break, and bytes that are not UTF-8.
  if (kind < 0.98) return { printed: NOT_UTF8, masked: NOT_UTF8 };
  return plain(`${makeText(random).repeat(20)} ${SHOWN.REGION.value} ${SHOWN.PIN.value}\n`);
}

const NOT_UTF8 = Buffer.from([0x2e, 0xff, 0x2e, 0xc0, 0x2e]);

/** The beginning of a secret: a masker has to wait for the next bytes to know. */
function makeAlmostSecret(random: () => number): Piece {
  const { API_TOKEN, ADMIN_TOKEN, DB_PASSWORD } = SECRETS;
  const isOfAdmin = random() < 0.5;
  if (!isOfAdmin) return plain(`${DB_PASSWORD.value.slice(0, -1)}!\n`);
  const rest = ADMIN_TOKEN.value.slice(API_TOKEN.value.length, -1);
  return masked(`${API_TOKEN.value}${rest}.\n`, `${MASK}${rest}.\n`);
}

const WORDS = ["creating", "bucket", "größe", "→", "\u001b[32mok\u001b[0m", "🚢", "10%", "*", ""];

function makeText(random: () => number): string {
  const length = 4 + Math.floor(random() * 24);
  const words = Array.from({ length }, () => WORDS[Math.floor(random() * WORDS.length)]);
  return words.join(" ");
}

function plain(text: string): Piece {
  return masked(text, text);
}

function masked(printed: string, shown: string): Piece {
  return { printed: Buffer.from(printed), masked: Buffer.from(shown) };
}
