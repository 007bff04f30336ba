import { isIP } from 'node:net';
import { ownsSubdomains } from '../../../feed/reference-data/shared-suffixes.ts';
import { listNetworkPrefixes } from '../targets/networks.ts';
import type { SweepKind } from '../targets/sighting-fields.ts';
import type { SweepTarget } from '../targets/sweep-targets.ts';

/** The terms to search for in fields of one kind: whole values, and patterns with `*` at their beginning, their end, or both. All in lower case. */
export type FieldTerms = { values: string[]; patterns: string[] };
export type SearchTerms = Record<SweepKind, FieldTerms>;

/** Returns everything that may be a sighting of the targets. Patterns may match more, so each found row has to be verified. */
export function toSearchTerms(targets: SweepTarget[]): SearchTerms {
  const sets = { address: createSets(), domain: createSets(), hash: createSets(), url: createSets() };
  for (const target of targets) addTerms(sets, target);
  const toTerms = ({ values, patterns }: TermSets): FieldTerms => ({ values: [...values], patterns: [...patterns] });
  return {
    address: toTerms(sets.address),
    domain: toTerms(sets.domain),
    hash: toTerms(sets.hash),
    url: toTerms(sets.url),
  };
}

type TermSets = { values: Set<string>; patterns: Set<string> };
const createSets = (): TermSets => ({ values: new Set(), patterns: new Set() });

function addTerms(sets: Record<SweepKind, TermSets>, { kind, type, value, host }: SweepTarget): void {
  if (type === 'cidr') {
    for (const prefix of listNetworkPrefixes(value)) {
      if (isIP(prefix)) sets.address.values.add(prefix);
      else sets.address.patterns.add(`${prefix}*`);
      sets.url.patterns.add(prefix.includes(':') ? `*://[${prefix}*` : `*://${prefix}*`);
    }
    return;
  }
  sets[kind].values.add(value);
  if (kind === 'url' && host !== undefined) sets[isIP(host) ? 'address' : 'domain'].values.add(host);
  if (kind === 'address') sets.url.patterns.add(isIP(value) === 6 ? `*://[${value}]*` : `*://${value}*`);
  if (kind !== 'domain') return;
  sets.url.patterns.add(`*://${value}*`);
  if (!ownsSubdomains(value)) return;
  sets.domain.patterns.add(`*.${value}`);
  sets.url.patterns.add(`*.${value}*`);
}
