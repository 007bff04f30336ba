import type { FeedItem } from '../model/item.schema.ts';
import { applyOverride, type AppliedOverride } from '../items/overrides/apply-overrides.ts';

/** The part of an organization's override that exports show, and the time since which it applies. */
export type DatedOverride = AppliedOverride & { at: Date };

/** Returns the item with an override applied and `lastUpdated` moved to the time of the override, if that is later. */
export function applyDatedOverride(item: FeedItem, override: DatedOverride | undefined): FeedItem {
  if (!override) return item;
  const at = override.at.toISOString();
  return { ...applyOverride(item, override), lastUpdated: at > item.lastUpdated ? at : item.lastUpdated };
}
