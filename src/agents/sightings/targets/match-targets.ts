import { isIP } from 'node:net';
import { extractBareHost, withoutBrackets } from '../../../platform/lib/outbound-http/addresses.ts';
import { listParents, ownsSubdomains } from '../../../feed/reference-data/shared-suffixes.ts';
import { createNetworkLookup } from '../../../feed/model/values/networks.ts';
import type { SightingMatch } from '../../../feed/model/vocabulary.ts';
import type { SweepKind } from './sighting-fields.ts';
import type { SweepTarget } from './sweep-targets.ts';

export type TargetMatch = { target: SweepTarget; match: SightingMatch };

/** Returns a function that finds the targets that a value of a log field matches. The value is in lower case. */
export function createTargetMatcher(targets: SweepTarget[]): (kind: SweepKind, value: string) => TargetMatch[] {
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
