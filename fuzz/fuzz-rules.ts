import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { compileRuleSet } from '../src/detection/matching/rule-set.ts';
import { createFieldRow } from '../src/detection/matching/compile-expression.ts';
import { readEventField } from '../test/support/detection/sigma/read-event-field.ts';
import type { Expression } from '../src/detection/matching/expression.ts';
import { parseRules } from '../src/detection/sigma/rules/parse-rules.ts';
import { duckdb } from '../src/detection/siem/dialects/duckdb.ts';
import { anyText } from '../src/detection/matching/text-pattern.ts';
import { openEvents } from '../test/support/detection/sigma/sigma-events.ts';
import { decodedText, yamlEvent, yamlRule, type YamlRule } from '../test/support/detection/sigma/sigma-yaml-fuzz.ts';
import { event, expression, fieldNames, plainMatch, readFuzz } from '../test/support/detection/sigma/sigma-fuzz.ts';

type Event = Record<string, unknown>;

export type RuleFuzzReport = {
  pairs: number;
  matches: number;
  deviations: { by: 'set' | 'duckdb'; rule: Expression | string; event: Event; expected: boolean }[];
};

/** A condition, with the rule that it comes from and what it should match. */
type FuzzCase = { where: Expression; rule: Expression | string; matches: (event: Event) => boolean };

/** Conditions and events of one batch, each of which is compared with each of the other. */
const batchSize = 200;
/** These stand for U+0000, which the generator does not have. */
const nulStandIns = /[~#;<>@]/g;

/** Values of other types than text, which occur beside texts in the same columns. */
const otherValue = fc.oneof(
  fc.constantFrom(null, true, false, '', ' '),
  fc.integer({ min: -20, max: 20 }),
  fc.array(fc.constantFrom('a', 'B', 5, null), { maxLength: 3 }),
);
const anyEvent = fc
  .tuple(event, fc.option(otherValue, { freq: 5, nil: undefined }), fc.constantFrom('f', 'g', 'with space'))
  .map(([one, other, field]): Event => (other === undefined ? one : { ...one, [field]: other }));

/** Puts U+0000 into texts. */
const withNul = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value), (_key, inner: unknown) =>
    typeof inner === 'string' ? inner.replaceAll(nulStandIns, '\0') : inner,
  ) as T;

/**
 * Compares generated rules on generated events with a plain evaluator: all rules as one set, and each as a query of the embedded engine. Every
 * second batch has rules as YAML, which the parser reads, the others have conditions. The same seed makes the same pairs.
 */
export async function fuzzRules(
  { pairs, seed }: { pairs: number; seed: number },
  onBatch: (report: RuleFuzzReport) => void = () => undefined,
): Promise<RuleFuzzReport> {
  const report: RuleFuzzReport = { pairs: 0, matches: 0, deviations: [] };
  for (let batch = 0; report.pairs < pairs; batch += 1) {
    const size = Math.min(batchSize, Math.ceil(Math.sqrt(pairs - report.pairs)));
    const sample = { numRuns: size, seed: seed * 1_000_000 + batch };
    const isYaml = batch % 2 === 1;
    const events = isYaml ? fc.sample(yamlEvent, sample) : withNul(fc.sample(anyEvent, sample));
    const cases = isYaml
      ? fc.sample(yamlRule, sample).map(parseYamlRule)
      : aimAtEvents(fc.sample(expression, sample), events).map(toCase);
    await compareBatch(cases, events, report);
    onBatch(report);
  }
  return report;
}

const toCase = (where: Expression): FuzzCase => ({
  where,
  rule: where,
  matches: (one) => plainMatch(where, readFuzz(one)),
});

function parseYamlRule({ yaml, matches }: YamlRule): FuzzCase {
  const [rule] = parseRules(yaml);
  if (rule?.kind !== 'rule') throw new Error(`${JSON.stringify(rule)}\n${yaml}`);
  return { where: rule.condition, rule: yaml, matches };
}

/** Replaces every second text pattern by a part of an event's value, so that texts match more often than by chance. */
function aimAtEvents(conditions: readonly Expression[], events: readonly Event[]): Expression[] {
  let turn = 0;
  const aim = (where: Expression): Expression => {
    if (where.kind === 'not') return { kind: 'not', of: aim(where.of) };
    if (where.kind !== 'match') return { kind: where.kind, of: where.of.map(aim) };
    turn += 1;
    const letters = [...(readFuzz(events[turn % events.length]!)(where.field!) ?? '')];
    if (where.test.kind !== 'text' || turn % 2 === 0 || letters.length === 0) return where;
    const from = turn % letters.length;
    const text = letters.slice(from, from + 1 + (turn % 4)).join('');
    const pattern = [...(turn % 3 === 0 ? [] : [anyText]), { text }, ...(turn % 5 === 0 ? [] : [anyText])];
    return { ...where, test: { ...where.test, pattern } };
  };
  return conditions.map(aim);
}

async function compareBatch(cases: FuzzCase[], events: Event[], report: RuleFuzzReport): Promise<void> {
  const conditions = cases.map(({ where }) => where);
  const expected = cases.map(({ matches }) => events.map(matches));
  // The column after those of the fields is the text of the event.
  const set = compileRuleSet(conditions, (field) => (field === null ? fieldNames.length : fieldNames.indexOf(field)));
  const rows = events.map((one) =>
    createFieldRow((column) =>
      column === fieldNames.length ? decodedText(one) : readEventField(one, fieldNames[column]!),
    ),
  );
  const inSet = rows.map((row, index) => {
    // The second half is matched by a set that has adapted to some of the events.
    if (index === Math.floor(rows.length / 2)) set.adapt(rows.slice(0, 50));
    return new Set(set.match(row));
  });
  const inEngine = await queryAll(conditions, events);
  for (const [position, { rule }] of cases.entries())
    for (const [index, one] of events.entries()) {
      const wanted = expected[position]![index]!;
      report.pairs += 1;
      report.matches += Number(wanted);
      if (inSet[index]!.has(position) !== wanted)
        report.deviations.push({ by: 'set', rule, event: one, expected: wanted });
      if (inEngine[position]!.has(index) !== wanted)
        report.deviations.push({ by: 'duckdb', rule, event: one, expected: wanted });
    }
}

/** Returns the indexes of the events that each condition matches as a query of the embedded engine. */
async function queryAll(conditions: Expression[], events: Event[]): Promise<Set<number>[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-fuzz-'));
  const store = await openEvents(folder, { d: events });
  const fields = fieldNames.map((name) => ({ name, names: [name] }));
  try {
    const results: Set<number>[] = [];
    for (const where of conditions) {
      const rows = await store.run(
        duckdb.writeRule({ table: 'd', time: '_time', fields, columns: ['f'], constants: {}, where }),
      );
      // The engine numbers the events of a dataset from 1.
      results.push(new Set(rows.map((row) => Number(String(row['_id']).split(':')[1]) - 1)));
    }
    return results;
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
