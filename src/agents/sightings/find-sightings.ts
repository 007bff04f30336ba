import { createHash, hash } from 'node:crypto';
import { isIP } from 'node:net';
import type { QueryRow } from '../../detection/siem/connector.ts';
import { sightingMatches, type SightingMatch } from '../../feed/model/vocabulary.ts';
import type { SweptDataset, SweepTarget } from './sweep-targets.ts';
import type { LogField } from '../../feed/model/values/indicator-type.ts';
import { extractBareHost, withoutBrackets } from '../../platform/lib/outbound-http/addresses.ts';
import { listParents, ownsSubdomains } from '../../feed/reference-data/shared-suffixes.ts';
import { createNetworkLookup } from '../../feed/model/values/networks.ts';

const eventMaxChars = 16_000;
const observedMaxChars = 2_000;
const rowsPerIndicatorMax = 20;

/**
 * A log row that contains an indicator of an item. `observed` is the value of the row that `match` connects with the indicator, and
 * `observedHost` the host of a URL or the same value.
 */
export type Sighting = SweepTarget & {
  dataset: string;
  eventKey: string;
  event: string;
  match: SightingMatch;
  observed: string;
  observedHost: string;
};

/** A row that is a sighting of a value, whichever items state the value. */
export type SightedRow = Pick<Sighting, 'dataset' | 'value' | 'eventKey'> & { connectionId: string };

/** Returns the ID of the event of a sighted row. A row that is sighted again after `withdrawals` has another event each time. */
export const sightingEventId = ({ connectionId, dataset, value, eventKey }: SightedRow, withdrawals = 0): string =>
  hash(
    'sha256',
    JSON.stringify([connectionId, dataset, value, eventKey, ...(withdrawals > 0 ? [withdrawals] : [])]),
  ).slice(0, 32);

/** Matches rows against targets. Returns at most 20 sightings for each indicator of an item. */
export function findSightings(rows: QueryRow[], { dataset, fields }: SweptDataset, targets: SweepTarget[]): Sighting[] {
  const findTargets = createTargetMatcher(targets);
  const counts = new Map<string, number>();
  return rows.flatMap((row) => {
    const event = JSON.stringify(row['_event'] ?? row);
    const eventKey = typeof row['_id'] === 'string' ? row['_id'] : createHash('sha256').update(event).digest('hex');
    const matches = fields.flatMap(({ name, kind }) => {
      const observed = readField(row, name);
      return findTargets(kind, observed).map((found) => ({ ...found, observed }));
    });
    // A row counts once for an indicator, with the strongest reason.
    const strongest = new Map<SweepTarget, (typeof matches)[number]>();
    for (const kind of sightingMatches)
      for (const found of matches)
        if (found.match === kind && !strongest.has(found.target)) strongest.set(found.target, found);
    return [...strongest.values()]
      .filter(({ target: { itemId, value } }) => {
        const key = `${itemId} ${value}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
        return counts.get(key)! <= rowsPerIndicatorMax;
      })
      .map(({ target, match, observed }) => ({
        ...target,
        dataset,
        eventKey,
        event: event.slice(0, eventMaxChars).toWellFormed(),
        match,
        observed: observed.slice(0, observedMaxChars).toWellFormed(),
        observedHost: readHost(observed),
      }));
  });
}

/** Returns a field in lower case, found by its name or by its path in the event. Removes the mask of a single address. */
function readField(row: QueryRow, name: string): string {
  const event = typeof row['_event'] === 'string' ? (JSON.parse(row['_event']) as unknown) : (row['_event'] ?? row);
  const direct = (event as QueryRow)[name];
  const value =
    direct ?? name.split('.').reduce<unknown>((parent, part) => (parent as QueryRow | undefined)?.[part], event);
  return String(value)
    .toLowerCase()
    .replace(/\/(?:32|128)$/, '');
}

type TargetMatch = { target: SweepTarget; match: SightingMatch };

/** Returns a function that finds the targets that a value of a log field matches. The value is in lower case. */
export function createTargetMatcher(targets: SweepTarget[]): (kind: LogField, value: string) => TargetMatch[] {
  const exact = Map.groupBy(targets, ({ kind, value }) => `${kind} ${value}`);
  const byUrlHost = Map.groupBy(
    targets.filter(({ host }) => host !== undefined),
    ({ host }) => host!,
  );
  const isDomainListed = new Set(targets.flatMap(({ kind, value }) => (kind === 'domain' ? [value] : [])));
  const findNetworks = createNetworkLookup(
    targets.flatMap((target) => (target.type === 'cidr' ? [{ value: target.value, target }] : [])),
  );
  const find = (key: string, match: SightingMatch): TargetMatch[] =>
    (exact.get(key) ?? []).map((target) => ({ target, match }));
  const matchParents = (host: string): TargetMatch[] =>
    listParents(host).flatMap((parent) =>
      isDomainListed.has(parent) && ownsSubdomains(parent) ? find(`domain ${parent}`, 'parent_domain') : [],
    );
  const matchHost = (host: string, match: SightingMatch): TargetMatch[] =>
    isIP(host)
      ? [
          ...find(`address ${host}`, match),
          ...findNetworks(host).map((target) => ({ target, match: 'network' as const })),
        ]
      : [...find(`domain ${host}`, match), ...matchParents(host)];
  return (kind, value) => {
    if (kind === 'hash') return find(`hash ${value}`, 'exact');
    if (kind === 'file') return find(`file ${readFileName(value)}`, 'exact');
    if (kind === 'url') {
      const host = readHost(value);
      return [...find(`url ${value}`, 'exact'), ...matchHost(host, 'url_host')];
    }
    const ofUrls = (byUrlHost.get(value) ?? []).map((target) => ({ target, match: 'url_host' as const }));
    return [...matchHost(value, 'exact'), ...ofUrls];
  };
}

/** Returns the host of a URL without brackets, or the value itself if it is not a URL. */
export const readHost = (value: string): string =>
  value.includes('://') ? extractBareHost(value) : withoutBrackets(value);

/** Returns the file name of a path of any system, or the value itself. */
export const readFileName = (value: string): string => value.slice(value.search(/[^\\/]*$/));
