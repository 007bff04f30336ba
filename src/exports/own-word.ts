import { sql } from 'kysely';
import { rows, type Tx } from '../db/db.ts';
import { saidOf } from '../feed/indicator-standing.ts';
import type { OverriddenIndicator } from '../feed/overrides-schema.ts';
import type { FeedItem, Indicator } from '../feed/schema.ts';

/** What an organization says of an item for itself, as far as exports show it, from a time on. Null: what everyone sees. */
export type OwnWord = {
  at: Date;
  severity: FeedItem['event']['severity'] | null;
  status: FeedItem['event']['status'] | null;
  indicators: OverriddenIndicator[];
};

type WordRow = Omit<OwnWord, 'indicators'> & { item_id: string; indicators: string | null };

/** All that the organization of the transaction ever said of these items, by item, the newest last: that one holds. */
export async function listOwnWords(tx: Tx, ids: string[]): Promise<Map<string, OwnWord[]>> {
  const found = await rows(
    tx,
    sql<WordRow>`
      select item_id, at, severity, status, indicators from feed_marks
      where organization_id = tocsin_org() and item_id = any(${ids}::uuid[]) order by at`,
  );
  const byItem = Map.groupBy(found, ({ item_id }) => item_id);
  return new Map([...byItem].map(([id, words]) => [id, words.map(toOwnWord)]));
}

const toOwnWord = ({ at, severity, status, indicators }: WordRow): OwnWord => ({
  at,
  severity,
  status,
  indicators: indicators === null ? [] : (JSON.parse(indicators) as OverriddenIndicator[]),
});

/** The item as a word says it, changed when that was said. Nothing of what is retracted, by whomever, is to be acted on. */
export function asSaid(item: FeedItem, word: OwnWord | undefined): FeedItem {
  if (!word) return item;
  const { severity, status } = item.event;
  const isRetracted = status === 'retracted' || word.status === 'retracted';
  const settle = (indicator: Indicator): Indicator => {
    const own = saidOf(word.indicators, indicator) ?? indicator.status;
    return { ...indicator, status: isRetracted && own !== 'false_positive' ? 'revoked' : own };
  };
  const iocs = Object.fromEntries(Object.entries(item.iocs).map(([bucket, list]) => [bucket, list.map(settle)]));
  return {
    ...item,
    lastUpdated: word.at.toISOString() > item.lastUpdated ? word.at.toISOString() : item.lastUpdated,
    event: {
      ...item.event,
      severity: word.severity ?? severity,
      status: isRetracted ? 'retracted' : (word.status ?? status),
    },
    iocs: iocs as FeedItem['iocs'],
  };
}
