import type { Deps } from '../../app/deps.ts';
import type { FeedItem } from '../model/item.schema.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { collectActive } from './indicator-lists.ts';
import { exportMoment, readExportPage } from './export-page.ts';
import type { BlocklistQuery } from './exports-query.ts';

const itemsMax = 100_000;
const pageSize = 500;

/**
 * Values to block, sorted, a line each: active ones of the wanted types from the newest items. A value that an item calls false is on no
 * list. `isWhole`: false where there were more items or values than one list is made from.
 */
export async function readBlocklist(
  deps: Deps,
  caller: Caller,
  query: BlocklistQuery,
  tlpMax: FeedItem['source']['tlp'],
): Promise<{ text: string; isWhole: boolean }> {
  const moment = await exportMoment(deps, caller);
  const wanted = { types: query.type.split(','), minConfidence: Number(query.minConfidence) };
  const found = { active: new Set<string>(), denied: new Set<string>() };
  let after: string | undefined;
  for (let read = 0; read < itemsMax && found.active.size < Number(query.limit); read += pageSize) {
    const page = await readExportPage(deps, caller, {
      ...moment,
      query: { limit: String(pageSize), after, relevancyMode: query.relevancyMode },
      tlpMax,
    });
    for (const item of page.items) collectActive(item, wanted, found);
    after = page.next;
    if (after === undefined) break;
  }
  const values = [...found.active].filter((value) => !found.denied.has(value));
  const lines = values.slice(0, Number(query.limit)).toSorted();
  const text = lines.map((value) => (query.format === 'hosts' ? `0.0.0.0 ${value}\n` : `${value}\n`)).join('');
  return { text, isWhole: after === undefined && values.length <= Number(query.limit) };
}
