import { ownValue } from '../../../platform/lib/json/json-values.ts';
import type { Indicator } from '../../model/item.schema.ts';
import { listObservables, type SeenItem } from '../../model/values/observables.ts';
import { indicatorTypes, type IndicatorType } from '../../model/values/indicator-types.ts';

/** Object path by type of observable. Other observables have no pattern. */
const pathByObservable: Record<string, string> = {
  email: 'email-addr:value',
  'email-src': 'email-addr:value',
  'email-subject': 'email-message:subject',
  mac: 'mac-addr:value',
  mutex: 'mutex:name',
  'user-agent': "network-traffic:extensions.'http-request-ext'.request_header.'User-Agent'",
};

/** Returns the observation expression that matches an observable, or undefined if the standard has no object for its type. */
export function toObservablePattern({
  type,
  normalizedValue: value,
}: Pick<Indicator, 'type' | 'normalizedValue'>): string | undefined {
  if (type === 'cidr') return `[ipv${value.includes(':') ? 6 : 4}-addr:value ISSUBSET ${quotePatternString(value)}]`;
  const number = type === 'asn' || type === 'AS' ? /^AS(\d+)$/.exec(value)?.[1] : undefined;
  if (number) return `[autonomous-system:number = ${number}]`;
  const path = ownValue(pathByObservable, type);
  return path && `[${path} = ${quotePatternString(value)}]`;
}

/** Quotes a string for a pattern (STIX 2.1, section 9.6). */
export const quotePatternString = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;

/** Returns the observation expression that matches a value (STIX 2.1, section 9). */
export function toPattern({ type, normalizedValue: value }: Pick<Indicator, 'type' | 'normalizedValue'>): string {
  if (type === 'file_path') {
    const { directory, name } = splitPath(value);
    if (directory !== '' && name !== '')
      return `[file:name = ${quotePatternString(name)} AND file:parent_directory_ref.path = ${quotePatternString(directory)}]`;
  }
  const { object, path } = indicatorTypes[type as IndicatorType].stix;
  const steps = path[0] === 'hashes' ? `hashes.'${path[1]}'` : path.join('.');
  return `[${object}:${steps} = ${quotePatternString(value)}]`;
}

/** Splits a path into directory and name. The name is empty if the path ends in a separator. */
export function splitPath(path: string): { directory: string; name: string } {
  const at = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  return { directory: path.slice(0, at), name: path.slice(at + 1) };
}

/** The number of values of an item that a format cannot represent, by field. */
export type UnsupportedFields = Record<string, number>;

/** Adds counts field by field and omits fields whose sum is 0. */
export function sumUnsupported(counts: UnsupportedFields[]): UnsupportedFields {
  const sum: UnsupportedFields = {};
  for (const [field, count] of counts.flatMap(Object.entries)) if (count > 0) sum[field] = (sum[field] ?? 0) + count;
  return sum;
}

/** Frameworks whose mappings become STIX objects. */
const supportedFrameworks = new Set(['cve', 'observable:tool', 'observable:attack-pattern']);

export function countUnsupportedByStix(item: SeenItem): UnsupportedFields {
  const { source, event, classification, iocs } = item;
  const indicators = Object.values(iocs).flat();
  const observables = listObservables(item).filter((one) => toObservablePattern(one) !== undefined);
  const mappings = classification.mappings.filter(({ framework }) => !supportedFrameworks.has(framework));
  const counts = {
    tldr: item.tldr ? 1 : 0,
    summary: item.summary && item.abstract ? 1 : 0,
    attackPath: item.attackPath.length,
    affectedProducts: item.affectedProducts.length,
    'classification.killChain': classification.killChain.length,
    'classification.platforms': classification.platforms.length,
    'classification.mappings': mappings.length - observables.length,
    'provenance.supportingPassages': item.provenance.supportingPassages.length,
    'source.license': source.license ? 1 : 0,
    'event.eventFirstSeen': event.eventFirstSeen ? 1 : 0,
    'event.eventLastSeen': event.eventLastSeen ? 1 : 0,
    'iocs.status': [...indicators, ...observables].filter(({ status }) => status === 'false_positive').length,
    // Only their expiry is exported, as `valid_until`.
    'iocs.lastSeen': indicators.filter(({ lastSeen }) => lastSeen).length,
    // Observables carry no marking, so only those of CLEAR items are exported.
    observables: source.tlp === 'CLEAR' ? 0 : indicators.length + observables.length,
  };
  return sumUnsupported([counts]);
}
