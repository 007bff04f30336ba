// The matcher in a process of its own: loads compiled rules, matches events line by line, and reports what that took.
import { once } from 'node:events';
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createFieldRow, type FieldRow } from '../src/detection/matching/compile-expression.ts';
import type { Expression } from '../src/detection/matching/expression.ts';
import { compileRuleSet } from '../src/detection/matching/rule-set.ts';

export type MatchReport = { loadMs: number; matchMs: number; peakMib: number; matches: [number, number][] };

const sampleRows = 256;
const sampleAt = new Set([256, 1024, 4096, 16_384]);

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

/** Reads an event whose fields are those of the rules. `null` is the text of the whole event. */
function readLine(line: string): FieldRow {
  const event = JSON.parse(line) as Record<string, unknown>;
  return createFieldRow((column) => {
    const name = names[column]!;
    const value = name === null ? line : event[name];
    if (value === undefined || value === null) return null;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

const matchStart = processorMs();
const matches = new Map<number, number>();
let recent: FieldRow[] = [];
let events = 0;
const reader = createInterface({ input: createReadStream(eventsFile) });
reader.on('line', (line) => {
  const row = readLine(line);
  events += 1;
  if (events <= 16_384) recent.push(row);
  if (sampleAt.has(events)) {
    set.adapt(recent.slice(-sampleRows));
    recent = [];
  }
  for (const rule of set.match(row)) matches.set(rule, (matches.get(rule) ?? 0) + 1);
});
await once(reader, 'close');
const matchMs = processorMs() - matchStart;
const peakMib = process.resourceUsage().maxRSS / 1024;
process.stdout.write(JSON.stringify({ loadMs, matchMs, peakMib, matches: [...matches] } satisfies MatchReport));
