import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RuleQuery } from '../../src/detection/siem/dialects/dialect.ts';
import { createRuleMatcher } from '../../test/support/detection/sigma/match-rules.ts';
import { formatRatio, type QualityFigure } from '../figures.ts';
import { readRecordedJson, readRecordedRows, requireData } from '../recorded-inputs.ts';

type Recording = { id: string; title: string; techniques: string[] };
export type WindowsRule = { title: string; techniques: string[]; ruleQuery: RuleQuery };

/** Evaluates rules on recordings of single simulated techniques. A rule has a technique if it has its parent or one of its sub-techniques. */
export function measureRecordings(rules: readonly WindowsRule[], verbose: boolean): QualityFigure[] {
  const match = createRuleMatcher(rules.map(({ ruleQuery }) => ruleQuery));
  const rows = readdirSync(join(requireData(), 'logs/windows'))
    .toSorted()
    .map((name) => {
      const recording = readRecordedJson<Recording>(`logs/windows/${name}/meta.json`);
      const events = readRecordedRows<Record<string, unknown>>(`logs/windows/${name}/events.ndjson.gz`);
      const counts = new Map<WindowsRule, number>();
      for (const event of events)
        for (const index of match(event)) {
          const rule = rules[index]!;
          counts.set(rule, (counts.get(rule) ?? 0) + 1);
          if (verbose) console.log(JSON.stringify([name, rule.title, summarize(event)]));
        }
      return toRow(recording, events.length, counts);
    });
  const found = rows.filter(({ isFound }) => isFound).length;
  return [
    {
      name: 'recordings of a simulated technique in which a rule with the technique fires',
      measured: `${formatRatio(found, rows.length)} (${found}/${rows.length})`,
    },
    ...rows.map(({ figure }) => figure),
  ];
}

function toRow(
  { id, title, techniques }: Recording,
  eventCount: number,
  counts: ReadonlyMap<WindowsRule, number>,
): { isFound: boolean; figure: QualityFigure } {
  const fired = [...counts].toSorted((a, b) => b[1] - a[1]);
  const hasTechnique = ({ techniques: own }: WindowsRule): boolean =>
    own.some((one) => techniques.some((two) => parentOf(one) === two || parentOf(two) === one || one === two));
  const list = (part: typeof fired): string =>
    part.map(([rule, count]) => `${rule.title.replaceAll('|', '/')} (${count})`).join(', ') || 'none';
  const own = fired.filter(([rule]) => hasTechnique(rule));
  const other = fired.filter(([rule]) => !hasTechnique(rule));
  return {
    isFound: own.length > 0,
    figure: {
      name: `${id}: ${title}, ${techniques.join(', ')}, ${eventCount} events`,
      measured: `${list(own)}; other rules: ${list(other)}`,
    },
  };
}

const parentOf = (technique: string): string => technique.split('.')[0]!;

const shown = [
  'EventID',
  'Image',
  'CommandLine',
  'ParentImage',
  'TargetImage',
  'TargetObject',
  'TargetFilename',
  'User',
];
const summarize = (event: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(shown.filter((name) => name in event).map((name) => [name, String(event[name]).slice(0, 160)]));
