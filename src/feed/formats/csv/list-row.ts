import { createObservable, createAddressObservable, type Observable } from '../../extraction/observable.ts';
import { parseFeedDate } from '../rss/feed-dates.ts';
import { roundConfidence } from '../../model/source-record.ts';
import type { ListTable } from './list-table.ts';

/** A parsed row of a list. Times are ISO text. */
export type ListRow = {
  observables: Observable[];
  firstSeen?: string | undefined;
  lastSeen?: string | undefined;
  confidence?: number | undefined;
  malware?: string | undefined;
  phishing?: boolean;
};

const columns = {
  address: /^(?:dst_|src_|c2_|source_|attacker_|remote_)?(?:ip|ips|ipv4|ipv6|ip_address|ipaddress|address)$/,
  url: /^(?:\w+_)?ur[li]$/,
  domain: /^(?:\w+_)?(?:domain|domain_name|host|hostname|fqdn)$/,
  sha512: /^sha_?512(?:_hash)?$/,
  sha256: /^sha_?256(?:_hash)?$/,
  sha1: /^(?:file_)?sha_?1(?:_hash)?$/,
  md5: /^(?:file_)?md5(?:_hash)?$/,
  imphash: /^imphash$/,
  ssdeep: /^ssdeep$/,
  cert_sha1: /^cert_sha_?1$/,
  any: /^(?:indicator|ioc|ioc_value|value|observable|hash|file_hash|artifact|network|cidr|entry)$/,
  firstSeen:
    /^(?:first_?seen|dateadded|date_added|added|date|listing_?date|submission_time|timestamp|time|created|first_reported|firstseen)(?:_utc|_at)?$/,
  lastSeen: /^(?:last_?seen|last_online|updated|last_reported)(?:_utc|_at)?$/,
  confidence: /^(?:confidence|confidence_level|score)$/,
  malware: /^(?:malware|malware_printable|malware_family|signature|family|threat_name)$/,
  threat: /^(?:threat|threat_type|category|tags?|classification|type)$/,
};
// Links to reports about the row are not indicators.
const linkColumn =
  /^(?:\w+_)?(?:link|reference|report|permalink|detail)(?:_ur[li])?$|^(?:urlhaus|reference|source|reporter|feed)_(?:link|url)$/;

/** Returns a function that reads a row by its column names or, without a header, by the form of the values. */
export function createRowReader({ header, rows, isDayFirst }: ListTable): (cells: string[]) => ListRow {
  if (!header) {
    const column = findValueColumn(rows);
    return (cells) => ({ observables: cells.slice(column, column + 1).flatMap(recognizeValue) });
  }
  const parseDate = (text: string | undefined): string | undefined =>
    parseFeedDate(isDayFirst ? text?.replace(/^(\d\d?)-(\d\d?)-(\d{4})/, toIsoDate) : text);
  const findColumns = (pattern: RegExp): number[] =>
    header.flatMap((name, index) => (pattern.test(name) && !linkColumn.test(name) ? [index] : []));
  const indexes = Object.fromEntries(
    Object.entries(columns).map(([name, pattern]) => [name, findColumns(pattern)]),
  ) as Record<keyof typeof columns, number[]>;
  return (cells) => {
    const read = (name: keyof typeof columns): string[] =>
      indexes[name].flatMap((index) => (isEmpty(cells[index]) ? [] : [cells[index]!]));
    return {
      observables: [
        ...read('address').map((value) => createAddressObservable(value, 'address')),
        ...read('url').map((value) => createObservable('url', value)),
        ...read('domain').map((value) =>
          value.includes('@') ? createAddressObservable(value) : createObservable('domain', value),
        ),
        ...hashNames.flatMap((type) => read(type).map((value) => createObservable(type, value))),
        ...read('any').flatMap(recognizeValue),
      ],
      firstSeen: parseDate(read('firstSeen')[0]),
      lastSeen: parseDate(read('lastSeen')[0]),
      confidence: parseConfidence(read('confidence')[0]),
      malware: read('malware')[0]
        ?.replace(/\s+(?:C&C|C2)$/i, '')
        .slice(0, 100),
      phishing: read('threat').some((text) => /phish/i.test(text)),
    };
  };
}

const toIsoDate = (_text: string, day: string, month: string, year: string): string =>
  `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;

const sampleRows = 50;

/** Returns the index of the first column that contains a value in most rows. Some lists without a header begin with a date or a network. */
function findValueColumn(rows: string[][]): number {
  const sample = rows.slice(0, sampleRows);
  const counts = (sample[0] ?? []).map(
    (_, column) => sample.filter((cells) => recognizeValue(cells[column] ?? '').length > 0).length,
  );
  return Math.max(0, counts.indexOf(Math.max(...counts, 0)));
}

const hashNames = ['sha512', 'sha256', 'sha1', 'md5', 'imphash', 'ssdeep', 'cert_sha1'] as const;
const isEmpty = (cell: string | undefined): boolean =>
  cell === undefined || /^(?:|none|null|n\/a|-|unknown)$/i.test(cell);
const hashTypes: Record<number, 'md5' | 'sha1' | 'sha256' | 'sha512'> = {
  32: 'md5',
  40: 'sha1',
  64: 'sha256',
  128: 'sha512',
};

/** The longest address that occurs in practice. Longer cells are prose. */
const cellMaxChars = 8_192;

/** Recognizes the kind of a value by its form, as in plain lists, hosts files and block rules. Returns nothing for other text. */
function recognizeValue(cell: string): Observable[] {
  if (cell.length > cellMaxChars) return [];
  const value = cell
    .replace(/\s+[;#].*$/, '')
    .replace(/^(?:0\.0\.0\.0|127\.0\.0\.1|::1?)\s+(?=\S+\.)/, '')
    .replace(/^\|\|([^^/$]+)\^.*$/, '$1')
    .replace(/^\*\./, '')
    .trim();
  if (value === '' || /\s/.test(value)) return [];
  const hash = /^[0-9a-f]+$/i.test(value) ? hashTypes[value.length] : undefined;
  if (hash) return [createObservable(hash, value)];
  if (/^[a-z]{3,10}(?:\[?:\]?)\/\//i.test(value)) return [createObservable('url', value)];
  const found = createAddressObservable(value);
  return found.kind === 'other' && found.framework === 'observable:domain' ? [] : [found];
}

/** Lists state confidence as 0 to 100 or 0 to 1. */
function parseConfidence(text: string | undefined): number | undefined {
  const score = text === undefined ? Number.NaN : Number(text);
  return Number.isNaN(score) || score < 0 || score > 100 ? undefined : roundConfidence(score > 1 ? score / 100 : score);
}
