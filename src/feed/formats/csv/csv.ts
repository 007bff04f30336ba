import { createHash } from 'node:crypto';
import { decodeUtf8 } from '../../../platform/lib/json/json-values.ts';
import { toListRecord, type ListLine } from './list-record.ts';
import { createRowReader } from './list-row.ts';
import { readTable } from './list-table.ts';
import type { ParseContext, ParseResult, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../source-document.ts';
import { isZip, readZip } from '../../../platform/lib/zip.ts';
import { readParts } from '../read-parts.ts';

const perItem = 1_500;
const zipBounds = { entriesMax: 100, entryMaxBytes: 64 * 1024 * 1024, totalMaxBytes: 128 * 1024 * 1024 };
const fileNames = /\.(?:csv|tsv|txt|list|netset|ipset|hosts)$/i;

/** Lists of indicators: CSV in any dialect by the names of its columns, and plain lists of one value a line. */
export const csv: SourceFormat = {
  label: 'CSV and plain lists of indicators',
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  files: /\.(?:csv|tsv|txt|list|netset|ipset|hosts)(?:\.gz)?$|\.zip$/i,
  parse: (parts, context) => readParts(parts.flatMap(unzipped), (part) => readList(part, context)),
};

const unzipped = (part: SourceDocument): SourceDocument[] =>
  isZip(part.bytes) ? readZip(part.bytes, (name) => fileNames.test(name), zipBounds) : [part];

/** A list is one item; a long one is several, each value always in the same of them. */
function readList(part: SourceDocument, context: ParseContext): ParseResult {
  const { header, rows, about, date = part.modified } = readTable(decodeUtf8(part.bytes));
  const read = createRowReader(header);
  const lines: ListLine[] = [];
  let empty = 0;
  for (const cells of rows) {
    const row = read(cells);
    if (row.observables.length === 0) empty += 1;
    else lines.push({ text: lineOf(header, cells), row });
  }
  if (lines.length === 0 && (rows.length > 0 || part.bytes.length === 0))
    throw new Error('the list holds no indicator that is known by its column or its form');
  const name = about ?? (part.name.replace(/\.\w+$/, '') || 'List');
  const said = [part.name, about, ...(header ?? [])].join(' ');
  const phishing = /phish/i.test(said) && !/malware/i.test(said);
  const count = partsOf(lines.length);
  const buckets = Array.from({ length: count }, (): ListLine[] => []);
  for (const line of lines) buckets[count === 1 ? 0 : bucketOf(line, count)]!.push(line);
  const records = buckets.flatMap((bucket, index) =>
    bucket.length === 0
      ? []
      : [
          toListRecord(
            {
              recordId: count === 1 ? part.name : `${part.name} ${index + 1}/${count}`,
              title: count === 1 ? name : `${name} (${index + 1} of ${count})`,
              lines: bucket,
              date,
              phishing,
            },
            context,
          ),
        ],
  );
  const skipped = empty === 0 ? [] : [{ entry: `${empty} rows`, reason: 'hold no indicator' }];
  return { records, skipped };
}

/** Steps far apart, so that a list seldom moves from one to the next; what it was before stays then beside it. */
const partsOf = (lines: number): number => (lines <= perItem ? 1 : lines <= 16 * perItem * 0.8 ? 16 : 512);

const bucketOf = ({ row }: ListLine, count: number): number => {
  const [first] = row.observables;
  const key = first?.kind === 'indicator' ? first.normalizedValue : (first?.value ?? '');
  return createHash('sha256').update(key).digest().readUInt32BE(0) % count;
};

const lineOf = (header: string[] | undefined, cells: string[]): string =>
  header
    ? cells
        .flatMap((cell, index) => (cell === '' ? [] : [`${header[index] ?? index}: ${cell.replaceAll(/\s+/g, ' ')}`]))
        .join(', ')
    : cells.join(', ');
