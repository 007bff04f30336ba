import { openPathOracle, pathColumns, type PathVerdict } from './path-oracle.ts';
import { createGrammar } from './query-grammar.ts';
import { createRandom } from './random.ts';

export type PathReport = Record<PathVerdict['kind'], number> & {
  statements: number;
  deviations: { statement: string; reason: string }[];
};

/** Checks generated statements with dotted names. The same seed makes the same statements. */
export async function fuzzPaths(
  { statements, seed }: { statements: number; seed: number },
  onStatement: (report: PathReport) => void = () => undefined,
): Promise<PathReport> {
  const oracle = await openPathOracle();
  const grammar = createGrammar(createRandom(seed), '/trap', pathColumns);
  const report: PathReport = { statements: 0, same: 0, invalid: 0, deviation: 0, deviations: [] };
  try {
    while (report.statements < statements) {
      const statement = grammar.statement();
      const verdict = await oracle.check(statement);
      report.statements += 1;
      report[verdict.kind] += 1;
      if (verdict.kind === 'deviation') report.deviations.push({ statement, reason: verdict.reason });
      onStatement(report);
    }
    return report;
  } finally {
    oracle.close();
  }
}
