import { lowerBound } from '../../text/refang-text.ts';

const descriptionHeader =
  /^(?:descri|comment|note|detail|context|remark|explanation|purpose|info|beschreibung|bemerkung|anmerkung|kommentar|hinweis|observa|coment|descrip|nota|detalle|detalhe|contexte|remarque|dettagli|opis|komentarz|описание|комментари|примечани|опис|коментар|примітк|说明|說明|描述|备注|備註|備考|説明|概要|설명|비고)/i;

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

/** Returns a check for values in a column of descriptions. Each line is read once, because it can have thousands of values. */
export function createDescriptionLookup(lineAt: (line: number) => string): (line: number, offset: number) => boolean {
  const rows = new Map<number, Row | undefined>();
  const columnsByTable = new Map<number, ReadonlySet<number>>();
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
    if (!row || row.table === line) return false;
    let columns = columnsByTable.get(row.table);
    if (!columns) columnsByTable.set(row.table, (columns = findDescriptionColumns(lineAt(row.table))));
    return columns.size > 0 && columns.has(lowerBound(row.separators, offset));
  };
}

function findDescriptionColumns(headers: string): ReadonlySet<number> {
  const ends = [...findSeparators(headers), headers.length];
  const cells = ends.map((end, index) => headers.slice(index === 0 ? 0 : ends[index - 1]! + 1, end));
  return new Set(
    cells.flatMap((header, index) => (descriptionHeader.test(header.replaceAll(/[*_`|]/g, '').trim()) ? [index] : [])),
  );
}
