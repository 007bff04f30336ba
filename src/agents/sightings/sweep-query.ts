import { isIP } from 'node:net';
import { findConnector, type SiemKind } from '../../detection/siem/connectors/registry.ts';
import { listNetworkPrefixes, type SweptDataset, type SweepTarget } from './sweep-targets.ts';
import type { LogField } from '../../feed/model/values/indicator-type.ts';
import { ownsSubdomains } from '../../feed/reference-data/shared-suffixes.ts';

/** Builds a query for the rows of a dataset that contain one of the terms. Returns undefined if no field fits any of them. */
export function buildSweepQuery(
  kind: SiemKind,
  { dataset, fields }: SweptDataset,
  terms: SearchTerms,
): string | undefined {
  const { text, isIn, isLike, or, query } = findConnector(kind).sweep;
  const conditions = fields.flatMap((field) => {
    const { values, patterns } = terms[field.kind];
    return [
      ...(values.length === 0 ? [] : [isIn(text(field.name), values)]),
      ...(patterns.length === 0 ? [] : [isLike(text(field.name), patterns)]),
    ];
  });
  return conditions.length === 0 ? undefined : query(dataset, conditions.join(or));
}

/** The terms to search for in fields of one kind: whole values, and patterns with `*` at their beginning, their end, or both. All in lower case. */
type FieldTerms = { values: string[]; patterns: string[] };
type SearchTerms = Record<LogField, FieldTerms>;

/** Returns everything that may be a sighting of the targets. Patterns may match more, so each found row has to be verified. */
export function toSearchTerms(targets: SweepTarget[]): SearchTerms {
  const sets = {
    address: createSets(),
    domain: createSets(),
    hash: createSets(),
    url: createSets(),
    file: createSets(),
  };
  for (const target of targets) addTerms(sets, target);
  const toTerms = ({ values, patterns }: TermSets): FieldTerms => ({ values: [...values], patterns: [...patterns] });
  return {
    address: toTerms(sets.address),
    domain: toTerms(sets.domain),
    hash: toTerms(sets.hash),
    url: toTerms(sets.url),
    file: toTerms(sets.file),
  };
}

type TermSets = { values: Set<string>; patterns: Set<string> };
const createSets = (): TermSets => ({ values: new Set(), patterns: new Set() });

function addTerms(sets: Record<LogField, TermSets>, { kind, type, value, host }: SweepTarget): void {
  if (type === 'cidr') {
    for (const prefix of listNetworkPrefixes(value)) {
      if (isIP(prefix)) sets.address.values.add(prefix);
      else sets.address.patterns.add(`${prefix}*`);
      sets.url.patterns.add(prefix.includes(':') ? `*://[${prefix}*` : `*://${prefix}*`);
    }
    return;
  }
  sets[kind].values.add(value);
  // A log may have the path.
  if (kind === 'file') sets.file.patterns.add(`*${value}`);
  if (kind === 'url' && host !== undefined) sets[isIP(host) ? 'address' : 'domain'].values.add(host);
  if (kind === 'address') sets.url.patterns.add(isIP(value) === 6 ? `*://[${value}]*` : `*://${value}*`);
  if (kind !== 'domain') return;
  sets.url.patterns.add(`*://${value}*`);
  if (!ownsSubdomains(value)) return;
  sets.domain.patterns.add(`*.${value}`);
  sets.url.patterns.add(`*.${value}*`);
}
