import { toQueryProblem } from '../../detection/siem/siem-errors.ts';
import { getItem } from '../../feed/items/get-item.ts';
import { startOfHour } from '../../feed/model/expiry.ts';
import { findTechnique } from '../../feed/reference-data/attack.ts';
import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { requireScopes } from '../../platform/orgs/credentials.ts';
import { readItemTargets, type ItemTargets } from '../sightings/sweep-targets.ts';
import { loadAttacks } from './attack-events.ts';
import { indicatorKinds, listIndicatorAttacks, type IndicatorKind } from './indicator-events.ts';
import {
  listFailures,
  listItemTechniques,
  listRehearsable,
  listRehearsalRows,
  storeResults,
  storeTechniques,
  type DetectionResult,
  type RehearsalRow,
} from './rehearsals.store.ts';
import { rehearse, type RehearseDeps } from './rehearse.ts';
import type { AttackChoice, RehearsedTechnique } from './make-events.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Rehearsal, RehearsalList, RehearsalResult, RehearsalRun, RehearseInput } from './rehearsals.schema.ts';

const rehearsedMsMax = 60_000;

/**
 * Rehearses a technique and its sub-techniques, or the techniques and the indicators of an item, with all enabled detections on the log store. Takes at most a minute.
 * Throws 400 for an unknown technique, and 404 if the item does not exist.
 */
export async function postRehearsal(
  deps: RehearseDeps,
  caller: Caller,
  { technique, itemId }: RehearseInput,
  stopped: AbortSignal,
): Promise<RehearsalRun> {
  const item = itemId === undefined ? undefined : await readItem(deps, caller, itemId);
  const asked = item ? item.techniques : [currentId(technique!)];
  const covers = (id: string): boolean => asked.includes(id) || (!item && id.startsWith(`${asked[0]}.`));
  const techniques = [...loadAttacks().keys()].filter(covers).toSorted();
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(rehearsedMsMax)]);
  const attacks = new Map([
    ...techniques.map((id) => [id, loadAttacks().get(id)!] as const),
    ...(item ? listIndicatorAttacks(item.found) : []),
  ]);
  const choice = { attacks, ...(item && { item: item.found }) };
  const done = await rehearseAttacks(deps, caller.orgId, choice, signal).catch((error: unknown) => {
    throw toQueryProblem(error, '');
  });
  const rows = await inOrg(deps.db, caller.orgId, (tx) => listRehearsalRows(tx, caller.orgId, techniques));
  return {
    rehearsals: rows.map(toRehearsal),
    indicators: indicatorKinds.flatMap((kind) => toIndicators(kind, done)),
    notRehearsable: !item && techniques.length > 0 ? [] : asked.filter((id) => !techniques.includes(id)),
    complete: done.complete,
  };
}

/** The events that were made of techniques and indicators, and on which of them each detection fired or was muted. */
type RehearsalOutcome = {
  techniques: RehearsedTechnique[];
  results: (DetectionResult & { name: string })[];
  complete: boolean;
};

/**
 * Rehearses attacks with all enabled detections and stores what fired at techniques. `complete` is false if `signal` ended it before all were tried.
 */
async function rehearseAttacks(
  deps: RehearseDeps,
  orgId: OrgId,
  choice: AttackChoice,
  signal: AbortSignal,
): Promise<RehearsalOutcome> {
  const now = deps.clock();
  const detections = await inOrg(deps.db, orgId, (tx) => listRehearsable(tx, orgId, null));
  const done = await rehearse(deps, orgId, { ...choice, detections, now }, signal);
  const isStored = (name: string): boolean => loadAttacks().has(name);
  const stored = done.results.map((one) => ({
    ...one,
    fired: one.fired.filter(isStored),
    muted: one.muted.filter(isStored),
  }));
  await inOrg(deps.db, orgId, async (tx) => {
    await storeTechniques(
      tx,
      orgId,
      done.techniques.filter(({ technique }) => isStored(technique)),
      now,
    );
    await storeResults(tx, orgId, stored, { techniques: [...choice.attacks.keys()].filter(isStored), now });
  });
  const names = new Map(detections.map(({ id, name }) => [id, name]));
  return {
    techniques: done.techniques,
    results: done.results.map((one) => ({ ...one, name: names.get(one.id)! })),
    complete: done.results.length === detections.length,
  };
}

const detectionsMax = 20;

function toIndicators(kind: IndicatorKind, { techniques, results }: RehearsalOutcome): RehearsalRun['indicators'] {
  const made = techniques.find(({ technique }) => technique === kind);
  if (!made) return [];
  const namesOf = (outcome: 'fired' | 'muted'): RehearsalResult['firedBy'] =>
    results
      .flatMap((one) => (one[outcome].includes(kind) ? { id: one.id, name: one.name } : []))
      .slice(0, detectionsMax);
  const [firedBy, mutedBy] = [namesOf('fired'), namesOf('muted')];
  const { eventCount: events } = made;
  return [
    { kind, state: toState(firedBy, events), events, datasets: Object.keys(made.events).toSorted(), firedBy, mutedBy },
  ];
}

const toState = (firedBy: RehearsalResult['firedBy'], events: number): RehearsalResult['state'] =>
  firedBy.length > 0 ? 'fired' : events > 0 ? 'did_not_fire' : 'no_data';

function currentId(technique: string): string {
  const found = findTechnique(technique.toUpperCase());
  if (!found) throw fieldError('/technique', 'unknown', `${technique} is no technique of ATT&CK Enterprise.`);
  return found.id;
}

async function readItem(
  deps: RehearseDeps,
  caller: Caller,
  itemId: string,
): Promise<{ techniques: string[]; found: ItemTargets }> {
  requireScopes(caller, ['feed:read']);
  const item = await getItem(deps, caller, itemId.toLowerCase());
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const mentioned = await listItemTechniques(tx, item.id);
    return {
      techniques: [...new Set(mentioned.map((technique) => findTechnique(technique)?.id ?? technique))],
      found: await readItemTargets(tx, [item], new Date(startOfHour(deps.clock()))),
    };
  });
}

/** Returns the last rehearsal of every technique. */
export function listRehearsals({ db }: { db: Db }, { orgId }: Caller): Promise<RehearsalList> {
  return inOrg(db, orgId, async (tx) => ({
    rehearsals: (await listRehearsalRows(tx, orgId, null)).map(toRehearsal),
    failures: await listFailures(tx, orgId),
  }));
}

const toRehearsal = (row: RehearsalRow): Rehearsal => ({
  technique: row.technique,
  name: findTechnique(row.technique)?.name ?? row.technique,
  ...toResult(row),
});

export function toResult({ at, events, datasets, sources, fired, muted }: RehearsalRow): RehearsalResult {
  const firedBy = JSON.parse(fired) as RehearsalResult['firedBy'];
  return {
    state: toState(firedBy, events),
    at: at.toISOString(),
    events,
    datasets,
    sources,
    firedBy,
    mutedBy: JSON.parse(muted) as RehearsalResult['mutedBy'],
  };
}
