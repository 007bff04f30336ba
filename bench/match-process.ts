// The matcher in a process of its own: loads compiled rules, matches events line by line, and reports what that took.
import { once } from 'node:events';
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createFieldRow, type FieldRow } from '../src/detection/matching/compile-expression.ts';
import type { Expression } from '../src/detection/matching/expression.ts';
import { compileRuleSet } from '../src/detection/matching/rule-set.ts';

export type MatchReport = { loadMs: number; matchMs: number; peakMib: number; matches: [number, number][] };

/** Rows are read, sampled and matched in chunks like those of the query engine. */
const [chunkRows, sampleRows] = [2048, 256];

const [rulesFile = '', eventsFile = ''] = process.argv.slice(2);
const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const loadStart = processorMs();
const conditions = JSON.parse(readFileSync(rulesFile, 'utf8')) as Expression[];
const columns = new Map<string | null, number>();
const columnOf = (field: string | null): number => {
  const column = columns.get(field) ?? columns.size;
  columns.set(field, column);
  return column;
};
const set = compileRuleSet(conditions, columnOf);
const loadMs = processorMs() - loadStart;
const names = [...columns.keys()];

type Row = { row: FieldRow; columns: number[] };

/** Reads an event whose fields are those of the rules. `null` is the text of the whole event. */
function readLine(line: string): Row {
  const event = JSON.parse(line) as Record<string, unknown>;
  const read = (column: number): string | null => {
    const name = names[column]!;
    const value = name === null ? line : event[name];
    if (value === undefined || value === null) return null;
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  const present = [null, ...Object.keys(event)].flatMap((name) => columns.get(name) ?? []);
  return { row: createFieldRow(read), columns: present };
}

const matchStart = processorMs();
const matches = new Map<number, number>();
let chunk: Row[] = [];
let chunks = 0;
function matchChunk(): void {
  chunks += 1;
  if (Number.isInteger(Math.log2(chunks) / 2))
    set.adapt(Array.from({ length: sampleRows }, (_, n) => chunk[Math.floor((n / sampleRows) * chunk.length)]!.row));
  for (const { row, columns: present } of chunk)
    for (const rule of set.match(row, present)) matches.set(rule, (matches.get(rule) ?? 0) + 1);
  chunk = [];
}
const reader = createInterface({ input: createReadStream(eventsFile) });
reader.on('line', (line) => {
  chunk.push(readLine(line));
  if (chunk.length === chunkRows) matchChunk();
});
await once(reader, 'close');
if (chunk.length > 0) matchChunk();
const matchMs = processorMs() - matchStart;
const peakMib = process.resourceUsage().maxRSS / 1024;
process.stdout.write(JSON.stringify({ loadMs, matchMs, peakMib, matches: [...matches] } satisfies MatchReport));
