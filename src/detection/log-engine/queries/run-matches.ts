import { LRUCache } from 'lru-cache';
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { createFieldRow, type FieldRow } from '../../matching/compile-expression.ts';
import { compileRuleSet, type RuleSet } from '../../matching/rule-set.ts';
import { serializeTree } from '../parse-tree.ts';
import { duck } from '../sql/sql-text.ts';
import { toCell } from './result-values.ts';
import { estimateBytes, prepareQuery, sortByKey, type SendRows } from './run-query.ts';
import type { MatchJob, MatchSet, QueryEnd } from './protocol.ts';

type Row = Record<string, unknown>;

/** The rows that match a rule, by time and id. Null if there are too many. */
type RuleRows = { rows: Row[] | null; bytes: number };

const idColumn = 0;
const timeColumn = 1;
/** The rows to which the set adapts, from the chunks 1, 4, 16 and so on. */
const sampleRows = 256;

/** A compiled set, and what its rules return of a row. */
type CompiledSet = { set: RuleSet; rules: Pick<MatchSet['rules'][number], 'columns' | 'constants'>[] };

/**
 * The sets that this process has evaluated last, by their key. Compiling thousands of rules takes longer than matching the few events of a batch,
 * and a set that stays goes on adapting to the events.
 */
const compiledSets = new LRUCache<string, CompiledSet>({
  max: 20,
  maxSize: 12_000,
  sizeCalculation: ({ rules }) => rules.length + 1,
});

function findSet({ setKey, set }: MatchJob): CompiledSet | undefined {
  const known = compiledSets.get(setKey);
  if (known || !set) return known;
  const { textField, rules } = set;
  const conditions = rules.map(({ where }) => where);
  const compiled = {
    set: compileRuleSet(conditions, (field) => (field === null ? textField! : Number(field))),
    rules: rules.map(({ columns, constants }) => ({ columns, constants })),
  };
  compiledSets.set(setKey, compiled);
  return compiled;
}

/** Reads the rows of a job once, whatever the number of rules in its set, and sends `{rule, rows}` for each rule that matches any. */
export async function runMatches(connection: DuckDBConnection, job: MatchJob, send: SendRows): Promise<QueryEnd> {
  const compiled = findSet(job);
  if (!compiled) return { total: 0, truncated: false, columns: [], isSetUnknown: true };
  const { set } = compiled;
  const tree = await serializeTree(connection, job.query.sql);
  const { wrap, values } = await prepareQuery(connection, { job: job.query, tree });
  const found = createCollector(job);
  const statement = await connection.prepare(wrap(duck`*`, duck``));
  statement.bind(values);
  const result = await statement.stream();
  let total = 0;
  let chunks = 0;
  for await (const chunk of readAhead(result)) {
    const { rowCount } = chunk;
    total += rowCount;
    chunks += 1;
    const { columns, readRow } = createReader(chunk, job.fields);
    if (rowCount > sampleRows && Number.isInteger(Math.log2(chunks) / 2))
      set.adapt(Array.from({ length: sampleRows }, (_, n) => readRow(Math.floor((n / sampleRows) * rowCount))));
    for (let index = 0; index < rowCount; index += 1) {
      const row = readRow(index);
      const rules = set.match(row, columns);
      if (rules.length === 0) continue;
      const [id, time] = [idColumn, timeColumn].map((column) => toCell(chunk.getColumnVector(column).getItem(index)));
      for (const rule of rules) {
        const { columns, constants } = compiled.rules[rule]!;
        const fields = columns.map(({ name, field }) => [name, row.text(field)] as const);
        found.add(rule, { _id: id, _time: time, ...Object.fromEntries(fields), ...constants });
      }
    }
  }
  for (const [rule, { rows }] of found.rules) {
    if (rows) sortByKey(rows);
    await send([{ rule, rows }]);
  }
  return { total, truncated: false, columns: [], times: ['_time'] };
}

/** Returns the chunks of a result. The engine's thread reads the next chunk while this one evaluates the rules. */
async function* readAhead(result: DuckDBResult): AsyncGenerator<DuckDBDataChunk> {
  let next = result.fetchChunk();
  try {
    for (let chunk = await next; chunk && chunk.rowCount > 0; chunk = await next) {
      next = result.fetchChunk();
      next.catch(() => undefined);
      yield chunk;
    }
  } finally {
    // The connection must not be closed during a read.
    await next.catch(() => undefined);
  }
}

/**
 * Returns the columns of a rule set that have a value in a chunk, and a function that returns a row of it. Texts are read when a rule needs them, and
 * columns without a value never.
 */
function createReader(
  chunk: DuckDBDataChunk,
  fields: readonly number[][],
): { columns: readonly number[]; readRow: (row: number) => FieldRow } {
  const vectors = Array.from({ length: chunk.columnCount }, (_, column) => chunk.getColumnVector(column));
  const { rowCount } = chunk;
  const hasValue = vectors.map((vector) => {
    let row = 0;
    while (row < rowCount && vector.getItem(row) === null) row += 1;
    return row < rowCount;
  });
  const sources = fields.map((columns) =>
    columns.filter((column) => hasValue[column]).map((column) => vectors[column]!),
  );
  const readRow = (row: number): FieldRow =>
    createFieldRow((field) => {
      for (const vector of sources[field]!) {
        const text = vector.getItem(row) as string | null;
        if (text !== null) return text;
      }
      return null;
    });
  return { columns: sources.flatMap((vectors, field) => (vectors.length > 0 ? [field] : [])), readRow };
}

function createCollector({ rowsMax, bytesMax }: MatchJob): {
  rules: Map<number, RuleRows>;
  add: (rule: number, row: Row) => void;
} {
  const rules = new Map<number, RuleRows>();
  let bytes = 0;
  const drop = (entry: RuleRows): void => {
    bytes -= entry.bytes;
    entry.rows = null;
    entry.bytes = 0;
  };
  return {
    rules,
    add(rule, row) {
      const entry = rules.get(rule) ?? { rows: [], bytes: 0 };
      rules.set(rule, entry);
      if (!entry.rows) return;
      const size = estimateBytes(row);
      entry.rows.push(row);
      entry.bytes += size;
      bytes += size;
      if (entry.rows.length > rowsMax) drop(entry);
      if (bytes > bytesMax) drop([...rules.values()].reduce((most, one) => (one.bytes > most.bytes ? one : most)));
    },
  };
}
