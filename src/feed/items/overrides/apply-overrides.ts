import type { FeedItem, Indicator } from '../../model/item.schema.ts';
import type { OverriddenIndicator } from '../../model/overrides.schema.ts';

/** The part of an organization's override that changes how an item is acted on. Null keeps the shared value. */
export type AppliedOverride = {
  severity: FeedItem['event']['severity'] | null;
  status: FeedItem['event']['status'] | null;
  indicators: readonly OverriddenIndicator[];
};

/** Returns the status that an override sets for an indicator. */
export const overriddenStatus = (
  overrides: readonly OverriddenIndicator[] | undefined,
  { type, normalizedValue }: Pick<Indicator, 'type' | 'normalizedValue'>,
): OverriddenIndicator['status'] | undefined =>
  overrides?.find((override) => override.type === type && override.value === normalizedValue)?.status;

/**
 * Returns the item with an override applied. An item that the source or the organization retracted has no active indicators: all are revoked
 * except false positives.
 */
export function applyOverride(item: FeedItem, override: AppliedOverride | undefined): FeedItem {
  if (!override) return item;
  const { severity, status } = item.event;
  const isRetracted = status === 'retracted' || override.status === 'retracted';
  const applyToIndicator = (indicator: Indicator): Indicator => {
    const ownStatus = overriddenStatus(override.indicators, indicator) ?? indicator.status;
    return { ...indicator, status: isRetracted && ownStatus !== 'false_positive' ? 'revoked' : ownStatus };
  };
  const iocs = Object.fromEntries(
    Object.entries(item.iocs).map(([bucket, indicators]) => [bucket, indicators.map(applyToIndicator)]),
  );
  return {
    ...item,
    event: {
      ...item.event,
      severity: override.severity ?? severity,
      status: isRetracted ? 'retracted' : (override.status ?? status),
    },
    iocs: iocs as FeedItem['iocs'],
  };
}
