import { toQueryProblem } from '../../detection/siem/siem-errors.ts';
import { getItem } from '../../feed/items/get-item.ts';
import { findTechnique } from '../../feed/reference-data/attack.ts';
import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { requireScopes } from '../../platform/orgs/credentials.ts';
import { loadAttacks } from './attack-events.ts';
import { listFailures, listItemTechniques, listRehearsalRows, type RehearsalRow } from './rehearsals.store.ts';
import { rehearseTechniques, type RehearseDeps } from './rehearse.ts';
import type { Rehearsal, RehearsalList, RehearsalResult, RehearsalRun, RehearseInput } from './rehearsals.schema.ts';

const rehearsedMsMax = 60_000;

/**
 * Rehearses a technique and its sub-techniques, or the techniques of an item, with all enabled detections on the log store. Takes at most a minute.
 * Throws 400 for an unknown technique, and 404 if the item does not exist.
 */
export async function postRehearsal(
  deps: RehearseDeps,
  caller: Caller,
  { technique, itemId }: RehearseInput,
  stopped: AbortSignal,
): Promise<RehearsalRun> {
  const asked = itemId === undefined ? [currentId(technique!)] : await readItemTechniques(deps, caller, itemId);
  const covers = (id: string): boolean => asked.includes(id) || (itemId === undefined && id.startsWith(`${asked[0]}.`));
  const techniques = [...loadAttacks().keys()].filter(covers).toSorted();
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(rehearsedMsMax)]);
  const { complete } = await rehearseTechniques(deps, caller.orgId, techniques, signal).catch((error: unknown) => {
    throw toQueryProblem(error, '');
  });
  const rows = await inOrg(deps.db, caller.orgId, (tx) => listRehearsalRows(tx, caller.orgId, techniques));
  return {
    rehearsals: rows.map(toRehearsal),
    notRehearsable: itemId === undefined && techniques.length > 0 ? [] : asked.filter((id) => !techniques.includes(id)),
    complete,
  };
}

function currentId(technique: string): string {
  const found = findTechnique(technique.toUpperCase());
  if (!found) throw fieldError('/technique', 'unknown', `${technique} is no technique of ATT&CK Enterprise.`);
  return found.id;
}

async function readItemTechniques(deps: RehearseDeps, caller: Caller, itemId: string): Promise<string[]> {
  requireScopes(caller, ['feed:read']);
  const { id } = await getItem(deps, caller, itemId.toLowerCase());
  const mentioned = await inOrg(deps.db, caller.orgId, (tx) => listItemTechniques(tx, id));
  return [...new Set(mentioned.map((technique) => findTechnique(technique)?.id ?? technique))];
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
    state: firedBy.length > 0 ? 'fired' : events > 0 ? 'did_not_fire' : 'no_data',
    at: at.toISOString(),
    events,
    datasets,
    sources,
    firedBy,
    mutedBy: JSON.parse(muted) as RehearsalResult['mutedBy'],
  };
}
