import { listFields } from '../../matching/expression.ts';
import type { Dialect, EventsQuery, RuleQuery } from './dialect.ts';
import { columnNames, sqlConditions, writeLogs, type SqlSpelling } from './sql-conditions.ts';
import { writeSqlCorrelation } from './sql-correlation.ts';
import { writeCondition } from './write-condition.ts';

/** Returns the dialect of an SQL database. A query reads its fields as text in a CTE, under their Sigma names. */
export function createSqlDialect(spelling: SqlSpelling): Dialect {
  return {
    language: spelling.language,
    writeRule: (query) => writeRule(query, spelling),
    writeCorrelation: (query) => writeSqlCorrelation(query, spelling),
    writeEvents: (query) => writeEvents(query, spelling),
  };
}

function writeEvents({ table, where }: EventsQuery, spelling: SqlSpelling): string {
  const { windowCondition, readField } = spelling;
  const names = new Map(listFields(where).flatMap((field) => (field === null ? [] : [[field, readField(field)]])));
  const condition = writeCondition(where, sqlConditions(names, spelling));
  const window = windowCondition === undefined ? '' : `${windowCondition}\n  AND `;
  return `SELECT *\nFROM ${table}\nWHERE ${window}(${condition})`;
}

function writeRule({ table, time, fields, columns, constants, where }: RuleQuery, spelling: SqlSpelling): string {
  const names = columnNames(fields, { time, spelling });
  const selected = columns.map((column) => names.get(column)!);
  const added = Object.entries(constants).map(
    ([name, value]) => `${spelling.literal(value)} AS ${spelling.quoteName(name)}`,
  );
  const list = [...spelling.rowColumns(time), ...selected, ...added].join(', ');
  const source = { table, condition: spelling.windowCondition };
  return [
    `WITH logs AS (${writeLogs(source, fields, { time, spelling, where })})`,
    `SELECT ${list}`,
    'FROM logs',
    `WHERE ${writeCondition(where, sqlConditions(names, spelling))}`,
  ].join('\n');
}
