import { isIP } from 'node:net';
import { applyOverride, type AppliedOverride } from '../items/snapshot/apply-overrides.ts';
import { indicatorExpiresAt, updateExpiry } from '../model/expiry.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';
import { toTermValue } from '../model/terms.ts';
import { createNameReader } from '../model/value-names.ts';
import {
  findStatus,
  listObservables,
  type ObservableIndicator,
  isIndicatorNetwork,
} from '../model/values/observables.ts';
import { buckets, isHarmlessHere, type LookupMatch, type ValueRole } from '../model/vocabulary.ts';
import type { IndicatorLookup } from './indicators.schema.ts';
import { extractBareHost } from '../../platform/lib/outbound-http/addresses.ts';
import { listEnclosingNetworks } from '../model/values/networks.ts';
import { listParents, ownsSubdomains } from '../reference-data/shared-suffixes.ts';

export type LookupItem = IndicatorLookup['items'][number];
export type LookupItemWithForm = LookupItem & { normalizedValue: string };

/**
 * Returns the indicators of an item that match a value, with their status at the full UTC hour `hour` and the reason for it. `terms` are the
 * canonical forms of the value. Empty if the item does not contain the value.
 */
export function toLookupItems(
  item: FeedItem,
  override: AppliedOverride | undefined,
  { terms, hour }: { terms: ReadonlySet<string>; hour: number },
): LookupItemWithForm[] {
  updateExpiry(item, hour);
  const itemAsSeen = applyOverride(item, override);
  const context = { item, override, readNames: createNameReader(item) };
  const isMatch = ({ normalizedValue }: ObservableIndicator): boolean =>
    terms.has(toTermValue('indicator', normalizedValue));
  const indicators = buckets.flatMap((bucket) =>
    item.iocs[bucket].flatMap((indicator, index) => {
      if (!isMatch(indicator)) return [];
      const { status } = itemAsSeen.iocs[bucket][index]!;
      const why = explainOverride(indicator, override, status) ?? explainStatus(indicator, item);
      return {
        ...toLookupItem(context, indicator, status, why),
        ...(indicator.firstSeen ? { firstSeen: indicator.firstSeen } : {}),
        ...(indicator.lastSeen ? { lastSeen: indicator.lastSeen } : {}),
        ...(indicator.correction ? { correction: indicator.correction } : {}),
        ...(indicator.role ? { role: indicator.role } : {}),
      };
    }),
  );
  const observables = listObservables(itemAsSeen)
    .filter(isMatch)
    .map((observable) => {
      const { status } = observable;
      const why = explainOverride(observable, override, status) ?? explainObservable(observable);
      return toLookupItem(context, observable, status, why);
    });
  return [...indicators, ...observables];
}

type ItemContext = {
  item: FeedItem;
  override: AppliedOverride | undefined;
  readNames: ReturnType<typeof createNameReader>;
};

const toLookupItem = (
  { item, override, readNames }: ItemContext,
  indicator: ObservableIndicator,
  status: Indicator['status'],
  why: string,
): LookupItemWithForm => ({
  itemId: item.id,
  title: item.event.title,
  publisher: item.source.publisher,
  itemStatus: override?.status ?? item.event.status,
  type: indicator.type,
  value: indicator.value,
  normalizedValue: indicator.normalizedValue,
  status,
  why,
  confidence: indicator.confidence,
  malware: readNames(indicator, 'malware'),
  actor: readNames(indicator, 'actor'),
  addedToFeedAt: item.addedToFeedAt,
});

/** Explains the status of an observable that no override decided. */
function explainObservable({ type, status }: ObservableIndicator): string {
  if (status === 'false_positive') return 'the network is reserved, private or too wide to be an indicator';
  if (status === 'active')
    return `valid until its item is retracted, as ${type === 'cidr' ? 'networks' : 'such values'} do not expire`;
  return 'its item was retracted';
}

/** Explains a status that the organization's override decided. */
function explainOverride(
  indicator: Pick<Indicator, 'type' | 'normalizedValue'>,
  override: AppliedOverride | undefined,
  status: Indicator['status'],
): string | undefined {
  if (override?.status === 'retracted' && status === 'revoked') return 'the organization retracted its item';
  return findStatus(override?.indicators, indicator) === status ? 'set by the organization' : undefined;
}

/** What a report says about a value with a role. */
const roleWords: Partial<Record<ValueRole, string>> = {
  victim: 'its report mentions it as a victim or as the original that attackers imitate',
  legitimate: 'its report calls it legitimate',
  'abused service': 'its report calls it a service that attackers abuse',
  sinkhole: 'its report calls it a sinkhole',
  scanner: 'its report calls it a scanner',
  research: 'its report assigns it to research or a test',
  reference: 'its report only refers to it',
  example: 'its report uses it as an example',
};

/** Explains the status of an indicator that no override decided. */
function explainStatus(indicator: Indicator, item: FeedItem): string {
  const expiresAt = new Date(indicatorExpiresAt(indicator, item));
  const time = Number.isNaN(expiresAt.getTime()) ? 'an unknown time' : expiresAt.toISOString();
  const start = indicator.lastSeen ? 'last seen' : item.source.publishTime ? 'published' : 'added';
  switch (indicator.status) {
    case 'false_positive':
      return isHarmlessHere(indicator)
        ? `${roleWords[indicator.role as ValueRole]}, which is about this item only`
        : 'marked as a false positive';
    case 'revoked':
      return item.event.status === 'retracted' ? 'its item was retracted' : 'its source revoked it';
    case 'expired':
      return `expired at ${time}, ${indicator.ttlDays} days after it was ${start}`;
    case 'active':
      return `valid until ${time}, ${indicator.ttlDays} days after it was ${start}`;
  }
}

/** A value whose indicator also applies to a looked-up value, and why. */
export type CoveringValue = { form: string; match: LookupMatch };

/**
 * Returns the values that cover a value, by the rules of sightings: the host of a URL, the networks of an address, and the domains above a host
 * up to the one that its owner registered. A mail address is covered by its host.
 */
export function listCoveringValues(type: string, form: string): CoveringValue[] {
  if (type === 'url') return listOfHost(extractBareHost(form), 'url_host');
  if (type === 'email') return listOfHost(form.slice(form.lastIndexOf('@') + 1), 'mail_host');
  return ['ipv4', 'ipv6', 'cidr', 'domain'].includes(type) ? listAbove(form) : [];
}

const listOfHost = (host: string, match: LookupMatch): CoveringValue[] =>
  host === '' ? [] : [{ form: host, match }, ...listAbove(host)];

const listAbove = (host: string): CoveringValue[] =>
  isIP(host) || host.includes('/')
    ? listEnclosingNetworks(host)
        .filter(isIndicatorNetwork)
        .map((form) => ({ form, match: 'network' }))
    : listParents(host)
        .filter(ownsSubdomains)
        .map((form) => ({ form, match: 'parent_domain' }));
