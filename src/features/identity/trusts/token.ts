import type { JWTPayload } from "jose";
import { decodeProtectedHeader } from "jose/decode/protected_header";
import { JWKSNoMatchingKey, JWTClaimValidationFailed, JWTExpired } from "jose/errors";
import { decodeJwt } from "jose/jwt/decode";
import { jwtVerify } from "jose/jwt/verify";
import { sha256Hex } from "../../../lib/digest.ts";
import { ApiError, BadInput, Unauthenticated } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { IssuerError, type IssuerKeys, type KeySet } from "./issuer-keys.ts";
import { CLOCK_TOLERANCE_SECONDS, MALFORMED } from "./model.ts";

const ALGORITHMS = ["RS256", "ES256"];

/** Before the signature is known to be the issuer's, the reply is the same for every reason. */
export const REFUSED = {
  algorithm: "Send a token that is signed with RS256 or ES256.",
  noTrust:
    "No trust accepts the token. Check org_id, that the organization has a trust with the token's " +
    "issuer, and that the issuer has signed the token.",
  expired: "The token has expired. Get a new one from its issuer.",
  notYetValid: "The token is not valid yet. Check the clocks of the issuer and of this service.",
  longLived: "The token is valid for more than 24 hours. Get one with a shorter lifetime.",
  incomplete: "The token needs the claim exp, as a number.",
  audience:
    "No trust of the issuer has the token's audience. Request a token for the trust's audience.",
  conditions:
    "The token's claims do not meet the conditions of a trust with its issuer and audience.",
  repeated: "The token has been exchanged before. Get a new one for each exchange.",
} as const;

/** What an issuer has signed. */
export interface VerifiedClaims {
  /** Of each token claim, its value. */
  claims: Readonly<Record<string, unknown>>;
  /** What makes the token one that is accepted once. */
  jti: string;
  /** In milliseconds since the Unix epoch. From then on, the token is refused as expired. */
  refusedFrom: number;
}

/** The issuer that the token names. Nothing in it is verified. */
export function readIssuer(token: string): string {
  const { header, payload } = decode(token);
  if (!ALGORITHMS.includes(String(header.alg))) throw new Unauthenticated(REFUSED.algorithm);
  if (typeof payload.iss !== "string") throw new Unauthenticated(REFUSED.noTrust);
  return payload.iss;
}

export interface Verification {
  issuers: IssuerKeys;
  issuer: string;
  allowsInsecure: boolean;
  /** Milliseconds since the Unix epoch. */
  now: number;
}

/** Verifies the signature, and then the times of the token. */
export async function verifyToken(token: string, context: Verification): Promise<VerifiedClaims> {
  try {
    const claims = await verifyWithKeys(token, context);
    return { ...toClaims(claims, context.now), jti: await jtiOf(claims, token) };
  } catch (error) {
    if (error instanceof IssuerError) throw issuerUnavailable(error.message);
    if (error instanceof ApiError) throw error;
    throw new Unauthenticated(reasonOf(error));
  }
}

export function issuerUnavailable(problem: string): ApiError {
  return new ApiError(
    "timeout",
    `The issuer's keys cannot be read. ${problem}. Retry in a moment.`,
  );
}

async function verifyWithKeys(token: string, context: Verification): Promise<JWTPayload> {
  const { issuers, issuer, allowsInsecure } = context;
  const keys = await issuers.find(issuer, allowsInsecure);
  try {
    return await verify(token, keys, context);
  } catch (error) {
    if (!(error instanceof JWKSNoMatchingKey)) throw error;
    const reloaded = await issuers.reload(issuer, allowsInsecure);
    if (!reloaded) throw error;
    return verify(token, reloaded, context);
  }
}

async function verify(token: string, keys: KeySet, { issuer, now }: Verification) {
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ALGORITHMS,
    issuer,
    currentDate: new Date(now),
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  });
  return payload;
}

function toClaims(claims: JWTPayload, now: number): Omit<VerifiedClaims, "jti"> {
  const { exp } = claims;
  if (typeof exp !== "number") throw new Unauthenticated(REFUSED.incomplete);
  const refusedFrom = (exp + CLOCK_TOLERANCE_SECONDS) * 1000;
  const longest = (LIMITS.exchangedTokenSeconds.value + 2 * CLOCK_TOLERANCE_SECONDS) * 1000;
  if (refusedFrom > now + longest) throw new Unauthenticated(REFUSED.longLived);
  return { claims, refusedFrom };
}

/**
 * `jti` is optional (RFC 7519, 4.1.7): some issuers have none, or a number. What is signed takes its place, without the
 * signature, because each of ES256 has a second valid form.
 */
async function jtiOf({ jti }: { jti?: unknown }, token: string): Promise<string> {
  if (typeof jti === "string" && jti !== "") return jti;
  if (Number.isSafeInteger(jti)) return String(jti);
  return sha256Hex(token.slice(0, token.lastIndexOf(".")));
}

/** jose verifies the signature before the claims. */
function reasonOf(error: unknown): string {
  if (error instanceof JWTExpired) return REFUSED.expired;
  if (!(error instanceof JWTClaimValidationFailed)) return REFUSED.noTrust;
  return error.claim === "nbf" && error.reason === "check_failed"
    ? REFUSED.notYetValid
    : REFUSED.incomplete;
}

function decode(token: string) {
  try {
    if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) throw malformed(MALFORMED);
    return { header: decodeProtectedHeader(token), payload: decodeJwt(token) };
  } catch {
    throw malformed(MALFORMED);
  }
}

function malformed(message: string): BadInput {
  return new BadInput([{ path: "token", message }]);
}
