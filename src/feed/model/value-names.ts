import type { FeedItem, Indicator } from './item.schema.ts';
import type { ObservableIndicator } from './values/observables.ts';

/** The names that an item can assign to a value: `malware` includes tools. */
export type ValueNames = Pick<Indicator, 'malware' | 'actor'>;
export type NameList = keyof ValueNames;

/**
 * Returns a function that returns the names to which an item assigns one of its values: those that the source states for the value itself. If
 * the source states none for any value, the only name of the item counts for all of them. Several names of an item say nothing about one value.
 */
export function createNameReader(
  item: FeedItem,
): (value: ObservableIndicator & ValueNames, list: NameList) => string[] {
  const indicators = Object.values(item.iocs).flat();
  const sharedOf = (list: NameList): string[] => {
    const names = item.classification[list];
    return names.length === 1 && indicators.every((indicator) => !indicator[list]) ? [names[0]!.name] : [];
  };
  const shared = { malware: sharedOf('malware'), actor: sharedOf('actor') };
  return (value, list) => value[list] ?? shared[list];
}
