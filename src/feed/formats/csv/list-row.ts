import {
  createAddressObservable,
  createObservable,
  listAddressObservables,
  type Observable,
} from '../../extraction/observable.ts';
import { findTlp, type Tlp } from '../../model/vocabulary.ts';
import { ownValue } from '../../../platform/lib/json/json-values.ts';
import { roundConfidence } from '../../model/source-record.ts';
import { createDateReader } from '../parse-date.ts';
import {
  columnTypes,
  findColumns,
  findFilledColumns,
  findValueColumns,
  isLinkColumn,
  type ColumnName,
} from './list-columns.ts';
import type { ListTable } from './list-table.ts';
import { readValues, recognizeValue, splitValues, isAboutWord, readTypedValue } from './recognize-value.ts';
import { indicatorTypes } from '../../model/values/indicator-types.ts';

/** A parsed row of a list. Times are ISO text. */
export type ListRow = {
  observables: Observable[];
  firstSeen?: string | undefined;
  lastSeen?: string | undefined;
  validUntil?: string | undefined;
  confidence?: number | undefined;
  malware?: string | undefined;
  actors?: string[];
  /** IDs of techniques, such as `T1566.001`. */
  techniques?: string[];
  /** Free words, some of which are names of malware. */
  tags?: string[];
  /** The report that the row stands for, from which the indicators are. */
  report?: { title: string; url: string } | undefined;
  /** The description of the row in prose. */
  description?: string | undefined;
  tlp?: Tlp | undefined;
  phishing?: boolean;
  /** Whether the source itself says that the value is harmless. */
  isBenign?: boolean;
  /** Whether the source itself states that the value is no longer valid. */
  isRevoked?: boolean;
};

/** Returns a function that reads a row by its column names or, without a header, by the form of the values. */
export function createRowReader(table: ListTable): (cells: string[]) => ListRow {
  if (!table.header) return createValueReader(table);
  const columns = readColumns(table, table.header);
  return (cells) => readRow(columns, cells);
}

function createValueReader({ rows, isNamed }: ListTable): (cells: string[]) => ListRow {
  const columns = findValueColumns(rows);
  return (cells) => ({
    observables: dropSinkholes(columns.flatMap((column) => readValues(cells[column] ?? ''))),
    ...(isNamed && cells[1] ? { tags: [cells[1]] } : {}),
  });
}

/** The columns of a list by their content. `others` are the columns without a known name. */
type Columns = ReturnType<typeof findColumns> & {
  dateReaders: Map<DateColumn, ReturnType<typeof createDateReader>>;
  scoreMax: number;
  others: number[];
};

function readColumns({ rows, isDayFirst }: ListTable, header: string[]): Columns {
  const found = findColumns(header, rows);
  const { indexes, typed } = found;
  const dateReaders = dateColumns.map((name) => {
    const column = rows.slice(0, datedRowsMax).flatMap((cells) => cells[indexes[name][0] ?? -1] ?? []);
    return [name, createDateReader(column, isDayFirst)] as const;
  });
  const named = new Set([typed?.type, ...Object.values(indexes).flat()]);
  const others = header.flatMap((name, index) => (named.has(index) || isLinkColumn(name) ? [] : [index]));
  const columns = {
    ...found,
    dateReaders: new Map(dateReaders),
    scoreMax: findScoreMax(rows, indexes.score[0]),
    others,
  };
  const sample = rows.slice(0, sampleRows);
  const readable = sample.filter((cells) => isReadable(readRow(columns, cells))).length;
  // The names of the columns lead to nothing in most rows: the columns without a known name count by the form of their values.
  if (readable < sample.length / 2) indexes.any = [...new Set([...indexes.any, ...findFilledColumns(rows, others)])];
  return columns;
}

/** Observables of a column that is named for an indicator but contains something else. A row with only these is unreadable. */
const unreadable = new Set(
  ['address', ...Object.keys(indicatorTypes)].map((type) => `observable:${type.replaceAll('_', '-')}`),
);

const isReadable = (row: ListRow): boolean => row.observables.length > 0 && !isUnreadable(row);

/** Returns whether a row has only text that is not what the names of its columns say. */
export const isUnreadable = ({ observables }: ListRow): boolean =>
  observables.length > 0 && observables.every((one) => one.kind === 'other' && unreadable.has(one.framework));

const findScoreMax = (rows: ListTable['rows'], scored: number | undefined): number =>
  scored === undefined ? 0 : rows.reduce((max, cells) => Math.max(max, Number(cells[scored]) || 0), 0);

function readRow(columns: Columns, cells: string[]): ListRow {
  const { typed, scoreMax } = columns;
  const read = (name: ColumnName): string[] => readCells(columns, cells, name);
  const readDate = (name: DateColumn): string | undefined => columns.dateReaders.get(name)!(read(name)[0]);
  return {
    observables: [...readTypedCells(columns, cells), ...readNamedCells((name) => read(name).flatMap(splitValues))],
    firstSeen: readDate('firstSeen'),
    lastSeen: readDate('lastSeen'),
    validUntil: readDate('validUntil'),
    confidence: parseConfidence(read('confidence')[0]) ?? parseScore(read('score')[0], scoreMax),
    malware: read('malware')[0]
      ?.replace(/\s+(?:C&C|C2)$/i, '')
      .slice(0, 100),
    actors: read('actor').flatMap((text) => text.split(/[,;|]/).map((name) => name.trim().slice(0, 100))),
    techniques: read('technique').flatMap((text) => (text.match(techniqueId) ?? []).slice(0, techniquesMax)),
    tags: read('tags').flatMap((text) => text.split(/[,;|]/).slice(0, tagsMax)),
    description: read('description')[0]?.slice(0, descriptionMaxChars),
    report: typed && isAboutWord(cells[typed.type] ?? '') ? readReportRow(cells) : undefined,
    tlp: read('tlp').map(findTlp)[0],
    phishing: read('threat').some((text) => /phish/i.test(text)),
    isBenign: read('verdict').some((text) => benignVerdict.test(text)),
    isRevoked: read('active').some((text) => no.test(text)) || read('revoked').some((text) => yes.test(text)),
  };
}

const readCells = ({ indexes }: Columns, cells: string[], name: ColumnName): string[] =>
  (indexes[name] ?? []).flatMap((index) => (isEmpty(cells[index]) ? [] : [cells[index]!]));

/** Reads the value whose type is in another column. */
function readTypedCells(columns: Columns, cells: string[]): Observable[] {
  const { typed } = columns;
  const value = typed && (cells[typed.value] || findOtherPath(columns, cells));
  return typed && value && !isEmpty(value) ? readTypedValue(cells[typed.type] ?? '', value) : [];
}

/** Some lists have the path of a file without a hash in another column. */
const findOtherPath = ({ others }: Columns, cells: string[]): string | undefined =>
  others.map((index) => cells[index] ?? '').find((cell) => /^(?:[A-Z]:|%\w+%|~)?[\\/]\S/i.test(cell));

/** Reads the values whose type follows from the name of their column. */
const readNamedCells = (readValues: (name: ColumnName) => string[]): Observable[] => [
  ...readValues('address').flatMap((text) => listAddressObservables(text, 'address')),
  ...columnTypes.values.flatMap((type) =>
    readValues(type).map((text) =>
      type === 'domain' && text.includes('@') ? createAddressObservable(text) : createObservable(type, text),
    ),
  ),
  ...readValues('any').flatMap(recognizeValue),
  ...columnTypes.traces.flatMap((type) => readValues(type).map((text) => createObservable(type, text))),
  ...otherNames.flatMap((name) =>
    readValues(name).map((value): Observable => ({ kind: 'other', framework: `observable:${name}`, value })),
  ),
];

const sampleRows = 50;
const dateColumns = ['firstSeen', 'lastSeen', 'validUntil'] as const satisfies ColumnName[];
/** The order of day and month follows from the first rows. */
const datedRowsMax = 20_000;
type DateColumn = (typeof dateColumns)[number];

const techniqueId = /\bT\d{4}(?:\.\d{3})?\b/gi;
const [tagsMax, techniquesMax] = [30, 30];
const descriptionMaxChars = 500;
const [yes, no] = [/^(?:true|yes|1)$/i, /^(?:false|no|0|inactive)$/i];

/** Words with which a source says that a value is harmless, as the whole cell. */
const benignVerdict =
  /^(?:benign|clean|good|harmless|false[-_ ]?pos(?:itive)?|(?:white|allow)[-_ ]?list(?:ed)?|allow(?:ed)?)$/i;

const sinkholes = new Set(['0.0.0.0', '127.0.0.1', '::', '::1']);

/** Removes the address to which a hosts file maps blocked names. */
const dropSinkholes = (observables: Observable[]): Observable[] =>
  observables.length < 2
    ? observables
    : observables.filter((one) => one.kind === 'other' || !sinkholes.has(one.normalizedValue));

const otherNames = ['email', 'mutex'] as const;
const isEmpty = (cell: string | undefined): boolean =>
  cell === undefined || /^(?:|none|null|n\/a|-|\?|unknown)$/i.test(cell);

/** The words of a scale and their confidence in STIX 2.1 (appendix A). */
const confidenceByWord: Record<string, number> = { low: 0.15, medium: 0.5, high: 0.85 };

/** Parses a confidence, which lists state as 0 to 100, as 0 to 1, or in words. */
function parseConfidence(text: string | undefined): number | undefined {
  const stated = ownValue(confidenceByWord, text?.toLowerCase() ?? '');
  if (stated !== undefined) return stated;
  const score = text === undefined ? Number.NaN : Number(text);
  return Number.isNaN(score) || score < 0 || score > 100 ? undefined : roundConfidence(score > 1 ? score / 100 : score);
}

/** Reads a row such as `source,https://reports.example/1,The title of the report`. */
function readReportRow(cells: string[]): ListRow['report'] {
  const url = cells.find((cell) => /^https?:\/\/\S+$/i.test(cell) && cell.length <= 2_000);
  const title = cells.findLast((cell) => cell.split(/\s+/).length > 2);
  return url && title ? { title: title.slice(0, 200), url } : undefined;
}

/** Parses a score. Its scale is the first of 1, 10 and 100 that no score of the column exceeds. */
function parseScore(text: string | undefined, columnMax: number): number | undefined {
  const score = text === undefined ? Number.NaN : Number(text);
  const scale = [1, 10, 100].find((max) => columnMax <= max);
  return Number.isNaN(score) || score < 0 || scale === undefined ? undefined : roundConfidence(score / scale);
}

/** A row and the line under which it is stored. */
export type ListLine = { text: string; row: ListRow };

const lineMaxChars = 4_000;
/** The maximum length of a cell without a value in a longer line. */
const remarkMaxChars = 400;

/** Returns the line of a row, one field after the other. Long lines keep all of their values, and the beginning of everything else. */
export function toListLine(header: string[] | undefined, cells: string[], row: ListRow): ListLine {
  const line = joinCells(header, cells);
  if (line.length <= lineMaxChars) return { text: line, row };
  const values = row.observables.map(({ value }) => value);
  const holdsValue = (cell: string): boolean => values.some((value) => cell.includes(value));
  const shortened = cells.map((cell) =>
    cell.length <= remarkMaxChars || holdsValue(cell) ? cell : cell.slice(0, remarkMaxChars).toWellFormed(),
  );
  return { text: joinCells(header, shortened), row };
}

function joinCells(header: string[] | undefined, cells: string[]): string {
  const line = header
    ? cells.flatMap((cell, index) => (cell === '' ? [] : [`${header[index] || index}: ${cell}`])).join(', ')
    : cells.join(', ');
  return toLine(line).toWellFormed();
}

/** Replaces line breaks, so that a row stays one line. */
export const toLine = (text: string): string =>
  text.replaceAll(/\s+/g, (space) => (/[\r\n\u2028\u2029]/.test(space) ? ' ' : space));
