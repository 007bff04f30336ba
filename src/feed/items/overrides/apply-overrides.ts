import { sql } from 'kysely';
import { rows, type Tx } from '../../../platform/db/db.ts';
import type { OverriddenIndicator } from '../../model/overrides.schema.ts';
import type { FeedItem, Indicator } from '../../model/item.schema.ts';

/** What an organization says of an item for itself that changes what is done with it. Null: what everyone sees. */
export type Said = {
  severity: FeedItem['event']['severity'] | null;
  status: FeedItem['event']['status'] | null;
  indicators: readonly OverriddenIndicator[];
};

type SaidRow = Omit<Said, 'indicators'> & { item_id: string; indicators: string | null };

/** What the organization of the transaction says of these items now, by item. */
export async function listSaidNow(tx: Tx, ids: string[]): Promise<Map<string, Said>> {
  if (ids.length === 0) return new Map();
  const found = await rows(
    tx,
    sql<SaidRow>`
      select item_id, severity, status, indicators from feed_overrides
      where organization_id = tocsin_org() and item_id = any(${ids}::uuid[])`,
  );
  return new Map(found.map((row) => [row.item_id, toSaid(row)]));
}

export const toSaid = ({ severity, status, indicators }: Omit<SaidRow, 'item_id'>): Said => ({
  severity,
  status,
  indicators: indicators === null ? [] : (JSON.parse(indicators) as OverriddenIndicator[]),
});

/** What an organization's words say of an indicator; undefined: nothing. */
export const saidOf = (
  words: readonly OverriddenIndicator[] | undefined,
  { type, normalizedValue }: Pick<Indicator, 'type' | 'normalizedValue'>,
): OverriddenIndicator['status'] | undefined =>
  words?.find((one) => one.type === type && one.value === normalizedValue)?.status;

/** The item as an organization says it. Nothing of what is retracted, by whomever, is to be acted on. */
export function asSaid(item: FeedItem, said: Said | undefined): FeedItem {
  if (!said) return item;
  const { severity, status } = item.event;
  const isRetracted = status === 'retracted' || said.status === 'retracted';
  const settle = (indicator: Indicator): Indicator => {
    const own = saidOf(said.indicators, indicator) ?? indicator.status;
    return { ...indicator, status: isRetracted && own !== 'false_positive' ? 'revoked' : own };
  };
  const iocs = Object.fromEntries(Object.entries(item.iocs).map(([bucket, list]) => [bucket, list.map(settle)]));
  return {
    ...item,
    event: {
      ...item.event,
      severity: said.severity ?? severity,
      status: isRetracted ? 'retracted' : (said.status ?? status),
    },
    iocs: iocs as FeedItem['iocs'],
  };
}
