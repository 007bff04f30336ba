import { ownValue } from '../../../../platform/lib/json/json-values.ts';

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
