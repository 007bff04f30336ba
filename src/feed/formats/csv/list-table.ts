import papaparse from 'papaparse';
import { findTlp, type Tlp } from '../../model/vocabulary.ts';
import { toStorableText } from '../../../platform/lib/text/storable-text.ts';
import { parseFeedDate } from '../parse-date.ts';
import { readJsonTable } from './json-table.ts';
import { normalizeColumnName, applyLayout, findLayout } from './list-columns.ts';
import { readValues, splitValueRow, splitWideRow } from './recognize-value.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { findTaggedName } from '../../extraction/names/dictionary/resolve-name.ts';

/** A list as rows of cells. `about` is the title or first text, `date` the first date, and `tlp` the marking in its comments. */
export type ListTable = {
  header: string[] | undefined;
  /** Whether dates have the form `31-12-2026`. */
  isDayFirst: boolean;
  /** Whether the second cell of a row without a header is the name under which the list has it. */
  isNamed: boolean;
  rows: string[][];
  about: string | undefined;
  date: string | undefined;
  tlp: Tlp | undefined;
};

const rowsMax = 1_000_000;
const headerWordsMax = 6;
/** Some lists explain their terms above their header. */
const headerCommentsMax = 100;
const blanksBeforeQuote: Record<string, RegExp> = { '\t': /\t +"/g, ',': /, +"/g, ';': /; +"/g, '|': /\| +"/g };
const comment = /^\s*(?:#|;|\/\/|!)/;
/** Column names that identify a line as the header, with a prefix or suffix such as `c2_domains` or `indicator_type`. */
const headerName =
  /(?:^|_)(?:urls?|uris?|ips?|ip_?addr(?:ess(?:es)?)?|address|ipv[46]|domains?|hosts?|hostnames?|fqdns?|md5|sha_?(?:1|256|512)|hash(?:es)?|indicators?|iocs?|values?|observables?|title|first_?seen|dateadded|date_added)(?:_|$)/;

/** Reads CSV in any dialect, JSON, and plain lists with one value per line. */
export function readTable(text: string): ListTable {
  const json = readJsonTable(text, rowsMax);
  if (!json) return readLines(text);
  return { ...toTable(json.columns, json.rows), isNamed: false, about: json.about, date: json.date, tlp: undefined };
}

/** Reads a list of lines. Comments are omitted, but one of them may be the header. */
function readLines(text: string): ListTable {
  const lines = toStorableText(text).split(/\r\n?|\n/);
  const comments = lines.filter((line) => comment.test(line));
  const data = lines.filter((line) => line.trim() !== '' && !comment.test(line));
  if (data.length > rowsMax) throw new ExternalError(`the list has more than ${rowsMax} rows`);
  const delimiter = findDelimiter(data);
  const cells = (line: string): string[] => splitLine(line, delimiter);
  // Quoted cells may contain line breaks, so a line is not always a row.
  const named = delimiter === undefined ? readNamedRows(lines) : undefined;
  const rows =
    named ?? (delimiter === undefined ? data.map((line) => [trimCell(line)]) : parseRows(data.join('\n'), delimiter));
  const headerRow = named ? -1 : findHeaderRow(rows);
  const headerComment = comments
    .slice(0, headerCommentsMax)
    .findLast((line) => delimiter !== undefined && isHeader(cells(toHeaderText(line))));
  const commentCells = headerComment && cells(toHeaderText(headerComment));
  const header = named ? undefined : headerRow < 0 ? commentCells || undefined : rows.splice(headerRow, 1)[0];
  const notes = comments.filter((line) => line !== headerComment);
  const beginning = lines
    .slice(
      0,
      lines.findIndex((line) => line === data[0]),
    )
    // The first section of a list with named sections is not its title.
    .filter((line) => notes.includes(line) && !(named && /^\s*##/.test(line)));
  return {
    ...toTable(header, rows),
    isNamed: named !== undefined,
    about: findTitle(data.length === 0 ? notes : beginning),
    date: findDate(notes),
    tlp: findMarking(notes),
  };
}

/** Returns a comment as the names of columns: `# CSV: date,ip`. */
const toHeaderText = (line: string): string =>
  line
    .replace(comment, '')
    .replace(/^[\s#]*(?:(?:csv|columns?|fields?|header|format)\s*:)?\s*/i, '')
    .trim();

function toTable(columns: string[] | undefined, rows: string[][]): Pick<ListTable, 'header' | 'rows' | 'isDayFirst'> {
  if (!columns) return { header: undefined, rows: rows.flatMap(splitValueRow), isDayFirst: false };
  const names = columns.map(normalizeColumnName);
  const { header, rows: cells } = applyLayout(names, rows);
  return { header, rows: cells.flatMap(splitWideRow), isDayFirst: findLayout(names)?.isDayFirst ?? false };
}

// A quote may follow blanks: `"a", "b, c"`.
function parseRows(text: string, delimiter: string): string[][] {
  const options = { delimiter, skipEmptyLines: 'greedy' } as const;
  const quoted = text.replaceAll(blanksBeforeQuote[delimiter]!, `${delimiter}"`);
  const parsed = papaparse.parse<string[]>(quoted, options);
  // A quote that is never closed would make everything after it one cell.
  const isOpen = parsed.errors.some(({ code }) => code === 'MissingQuotes');
  const { data } = isOpen ? papaparse.parse<string[]>(dropUnclosedQuotes(quoted), options) : parsed;
  return data.map((row) => row.map((cell) => trimCell(cell)));
}

/** Removes white space around a cell, and the characters with which exports of fixed width fill it. In linear time, unlike a pattern. */
function trimCell(cell: string): string {
  let [start, end] = [0, cell.length];
  while (start < end && isPadding(cell[start]!)) start += 1;
  while (end > start && isPadding(cell[end - 1]!)) end -= 1;
  return cell.slice(start, end);
}

const isPadding = (char: string): boolean => char === '\uFFFD' || char.trim() === '';

const dropUnclosedQuotes = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line.split('"').length % 2 === 0 ? line.replaceAll('"', '') : line))
    .join('\n');
const splitLine = (line: string, delimiter: string | undefined): string[] =>
  delimiter === undefined ? [line] : (parseRows(line, delimiter)[0] ?? []);

/**
 * Returns the delimiter that splits most of the first rows into the same number of cells, or undefined for a plain list. If several do, returns
 * the one with the most cells, because commas also occur within cells.
 */
function findDelimiter(data: string[]): string | undefined {
  // Rules of ad blockers begin with two bars.
  const sample = data.filter((line) => !/^(?:@@)?\|\|/.test(line)).slice(0, 20);
  let best: { delimiter: string; cells: number } | undefined;
  for (const delimiter of sample.length === 0 ? [] : Object.keys(blanksBeforeQuote)) {
    const widths = parseRows(sample.join('\n'), delimiter).map((row) => row.length);
    const cells = widths.toSorted((a, b) => a - b)[Math.floor(widths.length / 2)] ?? 1;
    const isConsistent = widths.filter((width) => width === cells).length >= widths.length * 0.8;
    if (isConsistent && cells > (best?.cells ?? 1)) best = { delimiter, cells };
  }
  return best?.delimiter;
}

/** Lines such as a title can stand above the header. */
const headerRowMax = 5;
const repeatedShareMax = 0.5;
const comparedRows = 50;

/** Returns the index of the row with the names of the columns, or -1. No row above it has a value, and its cells are not those of most rows. */
function findHeaderRow(rows: string[][]): number {
  for (const [index, row] of rows.slice(0, headerRowMax).entries()) {
    if (isHeader(row) && !isRepeated(row, rows.slice(index + 1, index + 1 + comparedRows))) return index;
    if (row.some((cell) => readValues(cell).length > 0)) return -1;
  }
  return -1;
}

/** Returns whether a cell recurs in its column in most of the other rows, like a remark, while the row as a whole does not. */
const isRepeated = (row: string[], others: string[][]): boolean =>
  row.some(
    (cell, index) =>
      cell !== '' &&
      others.filter((other) => other[index] === cell && other.some((one, at) => one !== row[at])).length >
        others.length * repeatedShareMax,
  );

function isHeader(row: string[]): boolean {
  // Exports of spreadsheets end with commas.
  const cells = row.slice(0, row.findLastIndex((cell) => cell !== '') + 1);
  return (
    (cells.some((cell) => headerName.test(normalizeColumnName(cell))) ||
      findLayout(cells.map(normalizeColumnName)) !== undefined) &&
    cells.every((cell) => /^["\w .()[\]/#&-]{1,60}$/.test(cell) && !/^\d+(?:\.\d+)*$/.test(cell)) &&
    // A sentence above the values.
    cells.every((cell) => cell.split(/\s+/).length <= headerWordsMax) &&
    // `host-1.bad.example` is a value, not the name of a column.
    cells.every((cell) => readValues(cell.replaceAll('"', '')).length === 0)
  );
}

const statedDate =
  /\b(?:last[ -]?(?:updated?|modified)|updated|generated|date)(?: (?:on|at))?\s*:?\s+([A-Za-z]{3}.*|\d{4}-\d\d-\d\d.*)/i;

function findDate(comments: string[]): string | undefined {
  for (const line of comments.slice(0, 50)) {
    const date = parseFeedDate(statedDate.exec(line.slice(0, 1_000))?.[1]);
    if (date) return date;
  }
  return undefined;
}

const notTitle =
  /^(?:last[ -]?(?:updated?|modified)|updated|generated|date|expires|version|homepage|license|tlp|copyright|references?|see)\b|^(?:indicators?|iocs?|indicators? of compromise)\W*$/i;

function findTitle(comments: string[]): string | undefined {
  const texts = comments.map((line) =>
    line
      .slice(0, 1_000)
      .replace(/^[\s#;/!*=-]+/, '')
      .replace(/[\s#*=-]+$/, ''),
  );
  const stated = texts.map((text) => /^(?:title|name)\s*:\s*(\S.*)$/i.exec(text)?.[1]).find(Boolean);
  const isHeaderLine = (text: string): boolean =>
    /[,;\t]/.test(text) && headerName.test(normalizeColumnName(text.split(/[,;\t]/)[0] ?? ''));
  const isTitle = (text: string): boolean => /\p{L}{3}/u.test(text) && !notTitle.test(text) && !isHeaderLine(text);
  return (stated ?? texts.find(isTitle))?.slice(0, 200);
}

const statedTlp = /\bTLP\s*[:=-]?\s*((?:AMBER[+_ ]?STRICT|[A-Z]+))\b/i;

function findMarking(comments: string[]): Tlp | undefined {
  const markings = comments.slice(0, 50).map((line) => findTlp(statedTlp.exec(line.slice(0, 1_000))?.[1] ?? ''));
  return markings.find((marking) => marking !== undefined);
}

const leadingMarks = /^[\s#;/!*=-]+/;
/** Words without a dot. Values have one, or are digests. */
const headingWords = /^[\p{L}\p{N}][\p{L}\p{N} &+()'/-]{2,58}:?$/u;
const headingMaxChars = 80;
const hexDigest = /^[0-9a-f]{32,}$/i;
const contentWords =
  /(?:\s+(?:malware|samples?|payloads?|hash(?:es)?|files?|c2s?|c&c|servers?|domains?|hosts?|ips?|urls?|iocs?|indicators?|list))+$/i;

/**
 * Returns the rows of a plain list in which lines or comments between the values name the malware, actor or tool of what follows, such as
 * `## MagicRAT`: each value, followed by the name if there is one. Returns undefined if no line does.
 */
function readNamedRows(lines: string[]): string[][] | undefined {
  const rows: string[][] = [];
  let [name, isAnyNamed] = ['', false];
  for (const line of lines) {
    const text = line.trim();
    const isComment = comment.test(line);
    if (text === '') continue;
    if (isComment || (headingWords.test(text) && !hexDigest.test(text))) {
      // Longer lines are not names, and the patterns take quadratic time.
      const heading =
        text.length > headingMaxChars ? '' : text.replace(leadingMarks, '').replace(/:$/, '').replace(contentWords, '');
      name = findTaggedName(heading) ? heading : '';
      isAnyNamed ||= name !== '';
      if (isComment || name !== '') continue;
    }
    rows.push(name === '' ? [text] : [text, name]);
  }
  return isAnyNamed ? rows : undefined;
}
