import { compileAllowList, compileExceptions } from '../../../analysis/exceptions.ts';
import type { Tx } from '../../../../platform/db/db.ts';
import { listActiveExceptions } from '../../../detections/exceptions/exceptions.store.ts';
import type { DetectionKey } from '../../../scheduling/timeline.ts';
import { readValueLists } from '../../../value-lists/value-lists.store.ts';
import type { StoredCandidate } from '../candidates.store.ts';
import type { SettlingContext } from './resolve-candidates.ts';

/** Returns what mutes candidates of a detection: its exceptions and snoozes, and the value lists that are named. */
export async function loadMutes(
  tx: Tx,
  key: DetectionKey,
  { listNames, now }: { listNames: readonly string[]; now: Date },
): Promise<Pick<SettlingContext, 'findException' | 'findAllowList'> & { missingLists: string[] }> {
  const findException = compileExceptions(await listActiveExceptions(tx, key, now));
  const lists = await readValueLists(tx, key.orgId, listNames);
  return {
    findException,
    findAllowList: createAllowListFinder(lists),
    missingLists: listNames.filter((name) => !lists.has(name)),
  };
}

/** Returns a function that finds the first of the named lists that contains a candidate's entity. */
export function createAllowListFinder(
  lists: ReadonlyMap<string, readonly string[]>,
): (candidate: Pick<StoredCandidate, 'entity'>, names: readonly string[]) => string | undefined {
  const compiled = new Map([...lists].map(([name, values]) => [name, compileAllowList(values)]));
  return ({ entity }, names) => names.find((name) => compiled.get(name)?.(entity));
}

export const describeMissingLists = (names: readonly string[]): string =>
  `\`tuning.allowLists\` specifies value lists that do not exist, so they allow nothing: ${names.join(', ')}.`;
