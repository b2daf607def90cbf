import type { SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { takeTurns } from "../../../turns.ts";
import {
  exceptionsOf,
  type Facts,
  lacksOwnDigests,
  type OwnDigests,
  type Success,
} from "../conditions/index.ts";
import { digestOfExceptions, digestsOf, type Resulting, resultingOf } from "./content.ts";
import * as store from "./pending-store.ts";
import * as successes from "./success-store.ts";

/** The documents of earlier deployments that one evaluation by the schedule reads, one at a time. */
const EARLIER_AT_ONCE = 10;

interface Queued {
  id: string;
  organizationId: string;
}

/** Whether the digests are missing that the deployment itself needs, so that it may meet more than it seems to. */
export async function isUndecided(facts: Facts): Promise<boolean> {
  return lacksOwnDigests(facts, await exceptionsDigestOf(facts));
}

async function exceptionsDigestOf(facts: Facts): Promise<string | undefined> {
  const exceptions = exceptionsOf(facts);
  return exceptions && digestOfExceptions(exceptions);
}

/** Reads the document of the deployment alone, and only if a digest of it is missing. Undefined: none is. */
export async function computeOwn(
  db: Database,
  { id, organizationId }: Queued,
  facts: Facts,
): Promise<Resulting | undefined> {
  if (!(await isUndecided(facts))) return undefined;
  const [pending] = await store.findPending(db, organizationId, id);
  return pending && resultingOf(pending, exceptionsOf(facts));
}

/** Stores what is missing. Without it, the facts are as they were. */
export async function withOwnDigests(
  db: Database,
  row: Queued & { facts: string | null },
): Promise<string | null> {
  if (row.facts === null) return null;
  const found = await computeOwn(db, row, JSON.parse(row.facts) as Facts);
  if (!found) return row.facts;
  const { read } = await batch(db, {
    stored: store.storeResulting(db, row.organizationId, row.id, found),
    read: store.selectQueuedFacts(db, row.organizationId, row.id),
  });
  return read[0] ? read[0].facts : row.facts;
}

/** For a reader, without a write. */
export async function completeFacts(db: Database, row: Queued, facts: Facts): Promise<Facts> {
  const found = await computeOwn(db, row, facts);
  return found ? compareWith(db, row.organizationId, facts, found) : facts;
}

export async function compareWith(
  db: Database,
  organizationId: string,
  facts: Facts,
  own: OwnDigests,
): Promise<Facts> {
  const ids = facts.successes.map(({ id }) => id);
  const rows = own.exceptions
    ? await successes.listCompared(db, organizationId, ids, own.exceptions)
    : [];
  const digests = new Map(rows.map(({ id, digest }) => [id, digest]));
  const compared = facts.successes.map((each) => ({
    ...each,
    compared: digests.get(each.id) ?? null,
  }));
  return { ...facts, own, successes: compared };
}

/**
 * Computes what is missing of the successes that the deployment is compared with: of those from before starts kept
 * digests, and for the excepted paths. Returns whether it has stored any.
 */
export async function computeEarlier(
  { db }: Pick<SystemContext, "db">,
  { organizationId }: Queued,
  facts: Facts,
): Promise<boolean> {
  const exceptions = exceptionsOf(facts);
  const { repeated, unlisted } = facts;
  const isUnknown = repeated?.isKnown === 0;
  if (isUnknown) await successes.storePastBasis(db, organizationId, repeated.id);
  for (const id of unlisted) await successes.copySuccesses(db, organizationId, id);
  const wanted = [...wantedOfRepeated(facts), ...wantedOf(facts, exceptions !== undefined)];
  const chosen = [...new Set(wanted)].slice(0, EARLIER_AT_ONCE);
  for (const id of chosen) await computeOf(db, organizationId, id, exceptions);
  return isUnknown || unlisted.length > 0 || chosen.length > 0;
}

function wantedOfRepeated({ repeated }: Facts): string[] {
  return repeated && repeated.configuration === null ? [repeated.id] : [];
}

function wantedOf(facts: Facts, isCompared: boolean): string[] {
  const isWhole = facts.hasSource === 0;
  return newestOf(facts)
    .filter(
      ({ compared, configuration }) =>
        (isCompared && compared === null) || (isWhole && configuration === null),
    )
    .map(({ id }) => id);
}

/** The newest success of each stack in each environment. */
function newestOf({ successes: all, stackNames }: Facts): Success[] {
  const seen = new Set<string>();
  const isNews = ({ environmentId, covers }: Success) => {
    const positions = covers === "all" ? [...stackNames.keys()] : covers;
    const keys = positions.map((at) => `${environmentId} ${at}`).filter((key) => !seen.has(key));
    for (const key of keys) seen.add(key);
    return keys.length > 0;
  };
  return all.toSorted((one, other) => other.finishedAt - one.finishedAt).filter(isNews);
}

/**
 * The schedule calls this each minute: computes what rules compare of the newest successes, before a deployment needs
 * it. Organizations take turns.
 */
export async function sweepDigests(ctx: SystemContext): Promise<void> {
  const begun = ctx.clock.now();
  const { sweepDigests: most, sweepDigestsMs: longest } = LIMITS;
  let left: number = most.value;
  const waiting = await successes.listDueOrganizations(ctx.db, most.value);
  await takeTurns(ctx, waiting, async ({ db }, organizationId) => {
    if (left <= 0 || ctx.clock.now() - begun > longest.value) return false;
    const [due] = await successes.findDue(db, organizationId);
    if (!due) return false;
    left -= await computeDue(db, organizationId, due);
    return true;
  });
}

/** Returns how many documents it has read. */
async function computeDue(
  db: Database,
  organizationId: string,
  { id, ...place }: { id: string; projectId: string; environmentId: string },
): Promise<number> {
  const lists = await successes.listExceptions(db, organizationId, place);
  for (const { exceptions } of lists)
    await computeOf(db, organizationId, id, JSON.parse(exceptions) as string[]);
  await successes.endDue(db, organizationId, id);
  return Math.max(1, lists.length);
}

async function computeOf(
  db: Database,
  organizationId: string,
  id: string,
  exceptions: readonly string[] | undefined,
): Promise<void> {
  const [row] = await successes.findConfiguration(db, organizationId, id);
  if (!row) return;
  const { digest, compared } = await digestsOf(row.configuration, exceptions);
  const { environmentId } = row;
  await batch(db, {
    digest: successes.storeConfigurationDigest(db, organizationId, { id, digest }),
    ...(exceptions &&
      compared !== null && {
        compared: successes.storeCompared(db, {
          deploymentId: id,
          exceptionsDigest: await digestOfExceptions(exceptions),
          ...{ organizationId, environmentId, digest: compared },
        }),
      }),
  });
}
