import type { FeedItem, Indicator } from '../../model/item.schema.ts';
import { findStatus, type SeenItem } from '../../model/values/observables.ts';
import type { OverriddenIndicator } from '../../model/overrides.schema.ts';

/** The part of an organization's override that changes how an item is acted on. Null keeps the shared value. */
export type AppliedOverride = {
  severity: FeedItem['event']['severity'] | null;
  status: FeedItem['event']['status'] | null;
  indicators: readonly OverriddenIndicator[];
};

/**
 * Returns the item with an override applied to its fields, indicators and observables. An item that the source or the organization retracted
 * has no active indicators: all are revoked except false positives.
 */
export function applyOverride(item: SeenItem, override: AppliedOverride | undefined): SeenItem {
  if (!override) return item;
  const { severity, status } = item.event;
  const isRetracted = status === 'retracted' || override.status === 'retracted';
  const applyToIndicator = (indicator: Indicator): Indicator => {
    const own = findStatus(override.indicators, indicator);
    const status = own ?? indicator.status;
    const { role, ...rest } = indicator;
    return {
      ...rest,
      // A false positive of the organization is harmless in every item.
      ...(role && own !== 'false_positive' ? { role } : {}),
      status: isRetracted && status !== 'false_positive' ? 'revoked' : status,
    };
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
    observableStatuses: [...override.indicators, ...(item.observableStatuses ?? [])],
  };
}

/** The part of an organization's override that exports show, and the time since which it applies. */
export type DatedOverride = AppliedOverride & { at: Date };

/** Returns the item with an override applied and `lastUpdated` moved to the time of the override, if that is later. */
export function applyDatedOverride(item: FeedItem, override: DatedOverride | undefined): FeedItem {
  if (!override) return item;
  const at = override.at.toISOString();
  return { ...applyOverride(item, override), lastUpdated: at > item.lastUpdated ? at : item.lastUpdated };
}
