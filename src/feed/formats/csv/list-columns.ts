import { readValues, isTypeWord } from './recognize-value.ts';
import type { Bucket } from '../../model/vocabulary.ts';
import { ownValue } from '../../../platform/lib/json/json-values.ts';
import { indicatorTypes, typeEntries, type IndicatorType } from '../../model/values/indicator-types.ts';

const owner = '(?:dst|src|dest|c2|cc|source|attacker|remote|malicious|destination|server|network)_?';

/** Names of columns after normalization, those of indicator types apart. */
const ownColumns = {
  address: new RegExp(
    `^(?:${owner}){0,2}(?:ips?|ipv[46]|ip_?addr|ip_?str|ip_address(?:es)?|ipaddress|address)(?:_(?:port|ranges?|networks?|cidrs?|prefix(?:es)?|blocks?))?$`,
  ),
  any: /^(?:indicators?(?:_values?|_of_compromise)?|iocs?(?:_values?)?|observables?(?:_values?)?|values?|hash(?:es)?|file_hash(?:es)?(?:_values?)?|artifacts?|networks?|subnets?|net_?blocks?|cidrs?|cidr_blocks?|prefix(?:es)?|ranges?|entry|c2s?|c2_servers?|(?:domains?|hosts?)_(?:or_)?ips?|ips?_(?:or_)?(?:domains?|hosts?))$/,
  email:
    /^(?:(?:sender|from|attacker|malicious|phishing)_e_?mails?(?:_addr(?:ess(?:es)?)?)?|e_?mails?_(?:sender|from))$/,
  mutex: /^mutex(?:es|_names?)?$/,
  firstSeen:
    /^(?:first_?seen|first_observed|date_first|detected|published|dateadded|date_added|added|date|listing_?date|submission_time|timestamp|time|created|creation(?=_)|first_reported|valid_from)(?:_utc|_at|_date|_time)?$/,
  lastSeen:
    /^(?:last_?seen|last_observed|date_last|last_online|last_active|(?:last_)?updated|(?:last_)?modified|modification(?=_)|last_reported)(?:_utc|_at|_date|_time)?$/,
  validUntil: /^(?:valid_(?:until|to)|expir(?:y|es|ation)(?:_(?:date|time|date_?time|at|ts))?)(?:_utc)?$/,
  confidence: /^(?:malicious_)?confidence(?:_level|_score)?$/,
  score: /^(?:risk_|threat_)?score$/,
  malware: /^(?:malware|malware_printable|malware_famil(?:y|ies)|malware_name|signature|family|threat_name)$/,
  actor: /^(?:(?:threat_)?actors?|apt|apt_groups?|adversar(?:y|ies)|intrusion_sets?)$/,
  technique:
    /^(?:(?:mitre_)?att(?:ack|_ck)(?:_(?:techniques?|ttps?|ids?))?|mitre(?:_(?:techniques?|ttps?|ids?))?|(?:techniques?|ttps?)(?:_ids?)?)$/,
  threat: /^(?:threat|threat_type|category|tags?|classification|type)$/,
  tags: /^tags?$/,
  verdict: /^(?:verdict|status|disposition|classification|action|reputation)$/,
  active: /^(?:is_)?(?:active|enabled)$/,
  revoked: /^(?:is_)?(?:revoked|deleted|inactive)$/,
  description:
    /^(?:(?:threat_|ioc_|indicator_)?descriptions?|notes?|comments?|context|info|information|details|remarks?)$/,
  tlp: /^(?:tlp|traffic_light_protocol)(?:_level)?$/,
};

export type ColumnName = keyof typeof ownColumns | IndicatorType;

const typeColumns = typeEntries.flatMap(([type, { csv }]) =>
  csv.column === null ? [] : [[type, csv.column] as const],
);
const columns: Partial<Record<ColumnName, RegExp>> = { ...ownColumns, ...Object.fromEntries(typeColumns) };

/** Buckets of what a sample leaves on a host. Such columns accompany those of values. */
const traceBuckets = new Set<Bucket>(['files', 'registryKeys', 'processes']);
const isTrace = (type: IndicatorType): boolean => traceBuckets.has(indicatorTypes[type].bucket);

/** The indicator types with columns of their own. */
export const columnTypes = {
  values: typeColumns.map(([type]) => type).filter((type) => !isTrace(type)),
  traces: typeColumns.map(([type]) => type).filter(isTrace),
};

/** A column that states the type of the value in another one. */
const typeColumn = /^(?:\w+_)?(?:type|kind)$/;
// Links to reports about the row are not indicators.
const linkColumn =
  /^(?:\w+_)?(?:link|reference|report|permalink|detail)(?:_ur[li])?s?$|^(?:urlhaus|reference|source|reporter|feed)_(?:link|url)s?$/;

export const isLinkColumn = (name: string): boolean => linkColumn.test(name);

const sampleRows = 50;
const typeShareMin = 0.6;

const valueColumns: ColumnName[] = ['address', ...columnTypes.values, 'any'];

/** Normalizes the name of a column: `IndicatorValue` and `Indicator Value` are `indicator_value`. */
export const normalizeColumnName = (name: string): string =>
  name
    .replaceAll(/["'#]/g, '')
    .trim()
    // `IndicatorValue`, but not `IPs`.
    .replaceAll(/([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z]{2})/g, '$&_')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');

const matchesColumn = (name: string, patterns: RegExp[]): boolean => {
  const normalized = normalizeColumnName(name);
  return patterns.some((pattern) => pattern.test(normalized));
};

/** Returns whether a name is that of a column of values. */
export const isValueName = (name: string): boolean =>
  matchesColumn(name, [...valueColumns.flatMap((column) => columns[column] ?? []), typeColumn]);

/** Returns whether the name of a column determines its contents. */
export const isColumnName = (name: string): boolean =>
  matchesColumn(name, [...Object.values(columns), typeColumn, linkColumn]);

/** The indexes of the columns with each name. Not every indicator type has a name. */
type ColumnIndexes = Record<keyof typeof ownColumns, number[]> & Partial<Record<IndicatorType, number[]>>;

/** The columns of a table by content. `typed` has the column of types and the column of their values. */
type ListColumns = { indexes: ColumnIndexes; typed: { type: number; value: number } | undefined };

/** Returns the columns of a table by their names and, for types and their values, by their contents. */
export function findColumns(header: string[], rows: string[][]): ListColumns {
  // The only word above a plain list need not hold for all of it.
  if (header.length === 1) return findColumns(['value', ''], rows);
  const find = (pattern: RegExp): number[] =>
    header.flatMap((name, index) => (pattern.test(name) && !linkColumn.test(name) ? [index] : []));
  const indexes = Object.fromEntries(
    Object.entries(columns).map(([name, pattern]) => [name, find(pattern)]),
  ) as ColumnIndexes;
  const type = findTypeColumn(header, rows);
  if (type === undefined) {
    // A header whose words say nothing about values.
    const isNamed = valueColumns.some((name) => indexes[name]?.length);
    if (!isNamed) indexes.any = findValueColumns(rows).filter((index) => !linkColumn.test(header[index] ?? ''));
    return { indexes, typed: undefined };
  }
  const named = indexes.any.find((index) => index !== type);
  const candidates = header.flatMap((name, index) => (index === type || linkColumn.test(name) ? [] : [index]));
  const value = named ?? findValueColumn(rows, candidates);
  // The type says how to read the value, whatever the name of its column.
  const untyped = Object.entries(indexes).map(([name, list]) => [
    name,
    list.filter((index) => index !== value && (index !== type || name === 'threat')),
  ]);
  return value === undefined
    ? { indexes, typed: undefined }
    : { indexes: Object.fromEntries(untyped) as ColumnIndexes, typed: { type, value } };
}

/** Returns the first column in which most cells name a type. Columns that are called so come first. */
function findTypeColumn(header: string[], rows: string[][]): number | undefined {
  const order = header.map((_, index) => index);
  const isCalledType = (index: number): boolean => typeColumn.test(header[index]!);
  return [...order.filter(isCalledType), ...order.filter((index) => !isCalledType(index))].find((column) => {
    const cells = rows.slice(0, sampleRows).flatMap((row) => row[column] || []);
    return cells.length > 0 && cells.filter(isTypeWord).length >= cells.length * typeShareMin;
  });
}

/** Returns the columns among `candidates` with a value in most rows. */
export const findFilledColumns = (rows: string[][], candidates: number[]): number[] =>
  candidates.filter((column) => countValues(rows, column) >= Math.min(rows.length, sampleRows) * typeShareMin);

/** Returns which of the columns contains a value in most rows. Some lists without a header begin with a date or a network. */
function findValueColumn(rows: string[][], candidates: number[]): number | undefined {
  const counts = candidates.map((column) => countValues(rows, column));
  const most = Math.max(...counts, 0);
  return most === 0 ? undefined : candidates[counts.indexOf(most)];
}

const countValues = (rows: string[][], column: number): number =>
  rows.slice(0, sampleRows).filter((cells) => readValues(cells[column] ?? '').length > 0).length;

/**
 * Returns the columns of values of a table without a header: the one with most values, and the first of each other kind that is there in most
 * rows. A second column of one kind is about the first one (its name server), and one whose values repeat a host is a link.
 */
export function findValueColumns(rows: string[][]): number[] {
  const sample = rows.slice(0, sampleRows);
  // The first row may be shorter than the others.
  const width = Math.max(0, ...sample.map((cells) => cells.length));
  const candidates = Array.from({ length: width }, (_, index) => index);
  const main = findValueColumn(rows, candidates);
  if (main === undefined) return [];
  const kindOf = (column: number): string => findMainKind(sample, column);
  const kinds = new Set([kindOf(main), 'url']);
  return candidates.filter((column) => {
    if (column === main) return true;
    const kind = kindOf(column);
    if (countValues(rows, column) < sample.length * typeShareMin || kinds.has(kind)) return false;
    kinds.add(kind);
    return true;
  });
}

function findMainKind(sample: string[][], column: number): string {
  const kinds = sample.flatMap((cells) => readValues(cells[column] ?? '').map(toKind));
  return kinds.toSorted().at(kinds.length / 2) ?? '';
}

const toKind = (found: ReturnType<typeof readValues>[number]): string =>
  found.kind === 'indicator' ? found.type.replace(/^ipv[46]$/, 'ip') : found.framework;

/** A known list whose column names do not determine the contents. Column names are normalized. */
type ListLayout = {
  /** A header with all of these columns has this layout. */
  columns: string[];
  /** The names that the columns get, by their own names. */
  rename?: Record<string, string>;
  /** Adds a column with the range of the columns `from`, which hold its first address and its prefix length, or its last address. */
  range?: { name: string; from: [string, string]; separator: '/' | '-' };
  /** Dates have the form `31-12-2026`. */
  isDayFirst?: true;
};

const layouts: ListLayout[] = [
  // abuse.ch SSLBL: fingerprints of certificates.
  { columns: ['listingdate', 'sha1', 'listingreason'], rename: { sha1: 'cert_sha1', listingreason: 'malware' } },
  // DShield: ranges, today and in older copies.
  { columns: ['start', 'end', 'netblock'], range: { name: 'network', from: ['start', 'netblock'], separator: '/' } },
  { columns: ['start', 'end', 'netmask'], range: { name: 'network', from: ['start', 'netmask'], separator: '/' } },
  ...[
    ['start_ip', 'end_ip'],
    ['ip_start', 'ip_end'],
    ['first_ip', 'last_ip'],
    ['range_start', 'range_end'],
  ].map(toRangeLayout),
  // DataPlane in older copies.
  { columns: ['asn', 'saddr', 'utc'], rename: { saddr: 'ip', utc: 'last_seen' } },
  // ViriBack: addresses of control panels.
  { columns: ['family', 'url', 'ip', 'first_seen'], isDayFirst: true },
];

/** Lists of ranges by their first and last addresses, which are not indicators themselves. */
function toRangeLayout([first = '', last = '']: string[]): ListLayout {
  return {
    columns: [first, last],
    rename: { [first]: 'first', [last]: 'last' },
    range: { name: 'network', from: [first, last], separator: '-' },
  };
}

export const findLayout = (header: string[]): ListLayout | undefined =>
  layouts.find(({ columns }) => columns.every((name) => header.includes(name)));

/** Applies the layout of a header to the header and the rows. Returns them unchanged if the header has no layout. */
export function applyLayout(header: string[], rows: string[][]): { header: string[]; rows: string[][] } {
  const { rename = {}, range } = findLayout(header) ?? {};
  const renamed = header.map((name) => ownValue(rename, name) ?? name);
  if (!range) return { header: renamed, rows };
  const [start, end] = range.from.map((name) => header.indexOf(name)) as [number, number];
  return {
    header: [range.name, ...renamed],
    rows: rows.map((cells) => [
      cells[start] && cells[end] ? `${cells[start]}${range.separator}${cells[end]}` : '',
      ...cells,
    ]),
  };
}
