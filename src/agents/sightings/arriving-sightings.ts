import { LRUCache } from 'lru-cache';
import {
  advancePosition,
  claimDatasetAcrossOrgs,
  findNextWindow,
  MatchLostError,
  openPositionsAcrossOrgs,
  releaseDataset,
  renewDataset,
  type MatchClaim,
} from '../../detection/continuous/match-positions.store.ts';
import { SiemError, type QueryWindow, type SiemConnection } from '../../detection/siem/connector.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import { startOfHour } from '../../feed/model/expiry.ts';
import { toTermValue } from '../../feed/model/terms.ts';
import { getProfile } from '../../feed/relevance/profile.ts';
import { inOrg } from '../../platform/db/db.ts';
import { nilId } from '../../platform/lib/ids.ts';
import { splitIntoBatches } from '../../platform/lib/concurrency/batches.ts';
import { atMostEvery, runLoop } from '../../platform/lib/concurrency/loop.ts';
import { listItemsWithForms, listKnownForms, readFeedVersion } from './sightings.store.ts';
import { listIndicatorForms, readObservedValues, type IndicatorForms } from './observed-values.ts';
import { runSweepQueries } from './run-queries.ts';
import { saveSightings, type SweepFindings } from './save-sightings.ts';
import { storeWithEvents } from './sighting-events.ts';
import type { SweepDeps } from './sweep.ts';
import {
  fieldsToSweep,
  readItemTargets,
  toTargetBatches,
  type ItemTargets,
  type SweepTarget,
  type SweptDataset,
} from './sweep-targets.ts';

/** About how many events are compared together. */
const eventsMax = 20_000;
const idleMs = 1000;
const openMs = 5000;
const retryMs = 5000;
/** Values that are looked up together. */
const valuesAtOnce = 1000;
const itemsAtOnce = 50;
/** Items of which the events of one batch may be sightings. Logs that consist of indicators would match the whole feed. */
const itemsMax = 2000;
const queriesMax = 1000;

/** Values that no item of an organization's feed has, valid until the feed changes. */
type UnknownValues = LRUCache<string, { version: string; values: Set<string> }>;

const unknownValuesMax = 100_000;
export const createUnknownValues = (): UnknownValues => new LRUCache({ max: 50 });

/** Compares events with the indicators of the feed when they arrive, until the signal aborts. Several processes may do so side by side. */
export function arrivingSightingsLoop(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  const unknown = createUnknownValues();
  const openPositions = atMostEvery(openMs, () => openPositionsAcrossOrgs(deps.db, 'indicators'));
  return runLoop({ name: 'arriving sightings', idleMs, signal, log: deps.log }, async () => {
    await openPositions();
    return compareNext(deps, unknown, signal);
  });
}

/** Compares the next events of a dataset. Returns false if none wait. */
export async function compareNext(deps: SweepDeps, unknown: UnknownValues, signal: AbortSignal): Promise<boolean> {
  const claim = await claimDatasetAcrossOrgs(deps.db, 'indicators');
  if (!claim) return false;
  try {
    await compareDataset(deps, unknown, claim, signal);
  } catch (error) {
    if (!(error instanceof MatchLostError)) {
      await inOrg(deps.db, claim.orgId, (tx) => releaseDataset(tx, claim, retryMs));
      throw error;
    }
    deps.log.warn({ dataset: claim.dataset }, 'another process took over a dataset');
  }
  return true;
}

async function compareDataset(
  deps: SweepDeps,
  unknown: UnknownValues,
  claim: MatchClaim,
  signal: AbortSignal,
): Promise<void> {
  const { orgId, dataset } = claim;
  const next = await inOrg(deps.db, orgId, (tx) => findNextWindow(tx, claim, eventsMax));
  const window: QueryWindow = { from: next.from, to: next.to, clock: 'ingest' };
  const { sweep } = await getProfile(deps, { orgId, keyId: null, scopes: new Set<string>(), expiresAt: null });
  const findings: SweepFindings[] = [];
  if (sweep && !next.isEmpty) {
    const connection = await deps.connectionFor(orgId, { connectionId: orgId, siemType: null });
    const [listed] = await connection.fields(signal, dataset);
    const swept = listed && fieldsToSweep(listed);
    if (swept) findings.push(...(await findArriving(deps, unknown, { claim, connection, swept, window }, signal)));
  }
  const place = { orgId, connectionId: orgId };
  await storeWithEvents(deps, place, findings, async (tx, standing) => {
    await advancePosition(tx, claim, next.to);
    for (const found of standing) await saveSightings(tx, place, found);
  });
  if (findings.some(({ sightings }) => sightings.length > 0)) deps.snapshots.invalidate();
}

type Arrival = { claim: MatchClaim; connection: SiemConnection; swept: SweptDataset; window: QueryWindow };

/** Returns the sightings in a window. A dataset whose values cannot be read has none, and the log says why. */
async function findArriving(
  deps: SweepDeps,
  unknown: UnknownValues,
  arrival: Arrival,
  signal: AbortSignal,
): Promise<SweepFindings[]> {
  const { claim } = arrival;
  const { orgId, dataset } = claim;
  try {
    const forms = await findKnownForms(deps, unknown, arrival, signal);
    if (forms.terms.length + forms.urlStarts.length === 0) return [];
    const findings: SweepFindings[] = [];
    let after = nilId;
    for (let items = 0; items < itemsMax; items += itemsAtOnce) {
      const found = await readItems(deps, claim, forms, after);
      if (found.items.length > 0) findings.push(await searchItems(deps, arrival, { ...found, forms }, signal));
      if (found.items.length < itemsAtOnce) return findings;
      after = found.items.at(-1)!.id;
      await inOrg(deps.db, orgId, (tx) => renewDataset(tx, claim));
    }
    deps.log.warn({ orgId, dataset, itemsMax }, 'events are sightings of too many items');
    return findings;
  } catch (error) {
    if (!(error instanceof SiemError) || error.failure.blame === 'service') throw error;
    deps.log.warn({ orgId, dataset, error: error.failure.message }, 'events were not compared with indicators');
    return [];
  }
}

/** Returns the forms of values in a window that the feed has. */
async function findKnownForms(
  deps: SweepDeps,
  unknown: UnknownValues,
  { claim: { orgId }, connection, swept, window }: Arrival,
  signal: AbortSignal,
): Promise<IndicatorForms> {
  const version = await inOrg(deps.db, orgId, readFeedVersion);
  const remembered =
    unknown.get(orgId)?.version === version ? unknown.get(orgId)! : { version, values: new Set<string>() };
  unknown.set(orgId, remembered);
  const known: IndicatorForms = { terms: [], urlStarts: [] };
  for await (const values of readObservedValues(connection, swept, window, signal))
    for (const part of splitIntoBatches(values, valuesAtOnce)) {
      const asked = part
        .filter((value) => !remembered.values.has(value))
        .map((value) => ({ value, ...listIndicatorForms(value) }));
      if (asked.length === 0) continue;
      const all = {
        terms: [...new Set(asked.flatMap(({ terms }) => terms))],
        urlStarts: [...new Set(asked.flatMap(({ urlStarts }) => urlStarts))],
      };
      const found = await inOrg(deps.db, orgId, (tx) => listKnownForms(tx, all, hourOf(deps)));
      for (const { value, terms, urlStarts } of asked)
        if (![...terms, ...urlStarts].some((form) => found.has(form)) && remembered.values.size < unknownValuesMax)
          remembered.values.add(value);
      known.terms.push(...all.terms.filter((form) => found.has(form)));
      known.urlStarts.push(...all.urlStarts.filter((form) => found.has(form)));
    }
  return known;
}

const hourOf = ({ clock }: SweepDeps): Date => new Date(startOfHour(clock()));

/** Reads the next items with forms, and what to search for of them. */
function readItems(deps: SweepDeps, { orgId }: MatchClaim, forms: IndicatorForms, after: string): Promise<ItemTargets> {
  const now = hourOf(deps);
  return inOrg(deps.db, orgId, async (tx) => {
    const rows = await listItemsWithForms(tx, forms, { now, after, limit: itemsAtOnce });
    return readItemTargets(
      tx,
      rows.map(({ doc }) => JSON.parse(doc) as FeedItem),
      now,
    );
  });
}

/** Returns the sightings of items in a window. */
async function searchItems(
  deps: SweepDeps,
  { connection, swept, window }: Arrival,
  { targets: all, forms, ...found }: ItemTargets & { forms: IndicatorForms },
  signal: AbortSignal,
): Promise<SweepFindings> {
  const terms = new Set(forms.terms.map((term) => term.toLowerCase()));
  const isSeen = ({ value, host }: SweepTarget): boolean =>
    terms.has(toTermValue('indicator', value)) ||
    (host !== undefined && forms.urlStarts.some((start) => value.startsWith(start)));
  const targets = all.filter(isSeen);
  const { sightings } = await runSweepQueries(connection, {
    kind: 'local',
    batches: toTargetBatches(targets),
    targets,
    queriesMax,
    datasets: [swept],
    window,
    signal,
  });
  return { ...found, sightings, now: deps.clock() };
}
