import { lowerBound } from '../../text/refang-text.ts';

const descriptionHeader =
  /^(?:descri|comment|note|detail|context|remark|explanation|purpose|info|beschreibung|bemerkung|anmerkung|kommentar|hinweis|observa|coment|descrip|nota|detalle|detalhe|contexte|remarque|dettagli|opis|komentarz|описание|комментари|примечани|опис|коментар|примітк|说明|說明|描述|备注|備註|備考|説明|概要|설명|비고)/i;

/** Columns of victims, and of originals that attackers imitate: `Legitimate domain`. */
const bystanderHeader =
  /^(?:(?:legit|legitimate|genuine|authentic|official|real)(?: (?:sites?|web ?sites?|domains?|urls?|services?|brands?|hosts?))?|(?:impersonated|imitated|targeted) (?:brands?|sites?|compan(?:y|ies)|organi[sz]ations?)|victims?(?: (?:site|domain|organi[sz]ation|company|name))?|brands?)$/i;

const imitationHeader = /\b(?:look-?alikes?|fake|typo\w*|spoof\w*|imitations?|phishing)\b/i;
const isOriginal = (header: string): boolean => /^originals?(?: (?:site|domain|brand))?$/i.test(header);

type ColumnKind = 'description' | 'bystander';

const isRow = (line: string): boolean => /[\t|]/.test(line);

/** Returns the offsets of the separators between the cells of a row. */
function findSeparators(row: string): number[] {
  const separator = row.includes('\t') ? '\t' : '|';
  const offsets: number[] = [];
  const lead = /^\s*\|/.exec(row)?.[0].length ?? 0;
  for (let at = row.indexOf(separator, lead); at >= 0; at = row.indexOf(separator, at + 1)) offsets.push(at);
  return offsets;
}

/** `table` is the line of the first row of the table, which has the headers. */
type Row = { table: number; separators: number[] };

/** Returns a lookup of the kind of the column of a value. Each line is read once, because it can have thousands of values. */
export function createColumnLookup(
  lineAt: (line: number) => string,
): (line: number, offset: number) => ColumnKind | undefined {
  const rows = new Map<number, Row | undefined>();
  const columnsByTable = new Map<number, ReadonlyMap<number, ColumnKind>>();
  const readRow = (line: number): Row | undefined => {
    const text = lineAt(line);
    if (!isRow(text)) return undefined;
    let table = line;
    while (table > 0 && isRow(lineAt(table - 1))) {
      const last = rows.get(table - 1);
      table = last?.table ?? table - 1;
      if (last) break;
    }
    return { table, separators: findSeparators(text) };
  };
  return (line, offset) => {
    if (!rows.has(line)) rows.set(line, readRow(line));
    const row = rows.get(line);
    if (!row || row.table === line) return undefined;
    let columns = columnsByTable.get(row.table);
    if (!columns) columnsByTable.set(row.table, (columns = findColumns(lineAt(row.table))));
    return columns.size > 0 ? columns.get(lowerBound(row.separators, offset)) : undefined;
  };
}

function findColumns(headers: string): ReadonlyMap<number, ColumnKind> {
  const ends = [...findSeparators(headers), headers.length];
  const columns = new Map<number, ColumnKind>();
  for (const [index, end] of ends.entries()) {
    const header = headers
      .slice(index === 0 ? 0 : ends[index - 1]! + 1, end)
      .replaceAll(/[*_`|]/g, '')
      .trim();
    if (descriptionHeader.test(header)) columns.set(index, 'description');
    else if (bystanderHeader.test(header) || (isOriginal(header) && imitationHeader.test(headers)))
      columns.set(index, 'bystander');
  }
  return columns;
}
