import calculator from 'ae-cvss-calculator';
import { asScalarText } from '../../platform/lib/json/json-values.ts';
import { rememberResults } from '../../platform/lib/concurrency/shared-calls.ts';
import type { Severity } from '../model/vocabulary.ts';

export type CvssScore = { version: '4.0' | '3.1' | '3.0' | '2.0'; score: number };

const vectorMaxChars = 500;
const vectorPattern = /^(?:CVSS:(?:3\.[01]|4\.0)\/)?[A-Za-z]{1,3}:[A-Za-z]{1,8}(?:\/[A-Za-z]{1,3}:[A-Za-z]{1,8})*$/;

/**
 * Returns the base score of a CVSS vector (FIRST: 2.0, 3.0, 3.1, 4.0), or undefined if it is invalid or lacks a base metric. Most
 * vulnerabilities share a few hundred vectors, so that scores are remembered.
 */
export const scoreCvssVector = rememberResults((vector): CvssScore | undefined => {
  const text = vector.trim();
  if (text.length > vectorMaxChars || !vectorPattern.test(text)) return undefined;
  const parsed = calculator.fromVector(text);
  if (!parsed?.isBaseFullyDefined()) return undefined;
  const scores = parsed.calculateScores() as { base?: number; baseMetricsOnly?: number };
  const score = scores.baseMetricsOnly ?? scores.base;
  const version = parsed.getVectorName().replace('CVSS:', '') as CvssScore['version'];
  return score === undefined ? undefined : { version, score };
}, 2_000);

/** Returns the score that a source states, or undefined if its version or value is invalid. */
export function checkCvssScore(version: unknown, score: unknown): CvssScore | undefined {
  const known = versions.find((name) => name === asScalarText(version));
  return known && typeof score === 'number' && score >= 0 && score <= 10 ? { version: known, score } : undefined;
}

const versions = ['4.0', '3.1', '3.0', '2.0'] as const;

/** Selects the score of a vulnerability: the highest score of the newest CVSS version. */
export function selectCvssScore(scores: (CvssScore | undefined)[]): CvssScore | undefined {
  for (const version of versions) {
    const [best] = scores.filter((one) => one?.version === version).toSorted((a, b) => b!.score - a!.score);
    if (best) return best;
  }
  return undefined;
}

/** Returns the qualitative rating of a score: the CVSS 3.0 to 4.0 rating table, or the ratings of the National Vulnerability Database for 2.0. */
export function rateCvssScore({ version, score }: CvssScore): Severity {
  const isVersion2 = version === '2.0';
  if (score >= 9 && !isVersion2) return 'critical';
  if (score >= 7) return 'high';
  if (score >= 4) return 'medium';
  return score > 0 || isVersion2 ? 'low' : 'none';
}
