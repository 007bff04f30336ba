import { openBindingOracle, type BindingVerdict } from './binding-oracle.ts';
import { createMutator } from './mutate-query.ts';
import { createGrammar } from './query-grammar.ts';
import { createRandom } from './random.ts';

export type FuzzReport = Record<BindingVerdict['kind'], number> & {
  statements: number;
  deviations: { statement: string; reason: string }[];
};

const batchSize = 500;
const recentMax = 2000;

/**
 * Checks generated statements: half of them from the grammar, half of them mutations of accepted statements and of `corpus`. The same seed
 * makes the same statements.
 */
export async function fuzzQueries(
  { statements, seed, corpus }: { statements: number; seed: number; corpus: readonly string[] },
  onBatch: (report: FuzzReport) => void = () => undefined,
): Promise<FuzzReport> {
  const oracle = await openBindingOracle();
  const random = createRandom(seed);
  // A fixed name, because the oracle's folder differs from run to run.
  const grammar = createGrammar(random, '/trap');
  const mutate = createMutator(random, '/trap');
  const recent: string[] = [...corpus];
  const report: FuzzReport = {
    statements: 0,
    refused: 0,
    bound: 0,
    invalid: 0,
    unresolved: 0,
    deviation: 0,
    deviations: [],
  };
  try {
    while (report.statements < statements) {
      const size = Math.min(batchSize, statements - report.statements);
      const batch = Array.from({ length: size }, () =>
        recent.length > 0 && random.chance(0.5) ? mutate(random.pick(recent)) : grammar.statement(),
      );
      const verdicts = await oracle.check(batch.map((statement) => statement.replaceAll('/trap', oracle.folder)));
      for (const [index, verdict] of verdicts.entries()) {
        report.statements += 1;
        report[verdict.kind] += 1;
        if (verdict.kind === 'deviation')
          report.deviations.push({ statement: verdict.statement, reason: verdict.reason });
        else if (verdict.kind === 'bound')
          recent[recent.length < recentMax ? recent.length : random.int(recentMax)] = batch[index]!;
      }
      onBatch(report);
    }
    return report;
  } finally {
    oracle.close();
  }
}
