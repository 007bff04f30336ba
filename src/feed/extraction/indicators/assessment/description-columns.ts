const descriptionHeader =
  /^(?:descri|comment|note|detail|context|remark|explanation|purpose|info|beschreibung|bemerkung|anmerkung|kommentar|hinweis|observa|coment|descrip|nota|detalle|detalhe|contexte|remarque|dettagli|opis|komentarz|описание|комментари|примечани|опис|коментар|примітк|说明|說明|描述|备注|備註|備考|説明|概要|설명|비고)/i;

/** Returns the character that separates the cells of a row, or undefined for a line that is no row of a table. */
function findSeparator(line: string): string | undefined {
  if (line.includes('\t')) return '\t';
  return line.includes('|') ? '|' : undefined;
}

const splitCells = (row: string, separator: string): string[] => row.replace(/^\s*\|/, '').split(separator);

/** Returns a check for values in a column of descriptions. The first row of a table has the headers. */
export function createDescriptionLookup(lineAt: (line: number) => string): (line: number, offset: number) => boolean {
  const firstRows = new Map<number, number>();
  const columnsByTable = new Map<number, ReadonlySet<number>>();
  const findFirstRow = (line: number): number => {
    let first = line;
    while (first > 0 && findSeparator(lineAt(first - 1))) {
      first = firstRows.get(first - 1) ?? first - 1;
      if (firstRows.has(first)) break;
    }
    firstRows.set(line, first);
    return first;
  };
  return (line, offset) => {
    const row = lineAt(line);
    const separator = findSeparator(row);
    if (separator === undefined) return false;
    const table = findFirstRow(line);
    if (table === line) return false;
    let columns = columnsByTable.get(table);
    if (!columns) columnsByTable.set(table, (columns = findDescriptionColumns(lineAt(table))));
    return columns.size > 0 && columns.has(splitCells(row.slice(0, offset), separator).length - 1);
  };
}

function findDescriptionColumns(headers: string): ReadonlySet<number> {
  const cells = splitCells(headers, findSeparator(headers) ?? '|');
  return new Set(
    cells.flatMap((header, index) => (descriptionHeader.test(header.replaceAll(/[*_`]/g, '').trim()) ? [index] : [])),
  );
}
