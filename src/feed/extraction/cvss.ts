import { asScalarText } from '../../platform/lib/json/json-values.ts';
import calculator from 'ae-cvss-calculator';
import type { Severity } from '../model/vocabulary.ts';

export type CvssScore = { version: '4.0' | '3.1' | '3.0' | '2.0'; score: number };

const vectorMaxChars = 500;
const shape = /^(?:CVSS:(?:3\.[01]|4\.0)\/)?[A-Za-z]{1,3}:[A-Za-z]{1,8}(?:\/[A-Za-z]{1,3}:[A-Za-z]{1,8})*$/;

/** The base score of a CVSS vector (FIRST: 2.0, 3.0, 3.1, 4.0), or undefined for what is none or lacks a base metric. */
export function scoreCvssVector(vector: string): CvssScore | undefined {
  const text = vector.trim();
  if (text.length > vectorMaxChars || !shape.test(text)) return undefined;
  const parsed = calculator.fromVector(text);
  if (!parsed?.isBaseFullyDefined()) return undefined;
  const scores = parsed.calculateScores() as { base?: number; baseMetricsOnly?: number };
  const score = scores.baseMetricsOnly ?? scores.base;
  const version = parsed.getVectorName().replace('CVSS:', '') as CvssScore['version'];
  return score === undefined ? undefined : { version, score };
}

/** A score that a source states itself, checked. */
export function checkCvssScore(version: unknown, score: unknown): CvssScore | undefined {
  const known = versions.find((name) => name === asScalarText(version));
  return known && typeof score === 'number' && score >= 0 && score <= 10 ? { version: known, score } : undefined;
}

const versions = ['4.0', '3.1', '3.0', '2.0'] as const;

/** Of several scores of one vulnerability the one that counts: the newest version, the highest of it. */
export function selectCvssScore(scores: (CvssScore | undefined)[]): CvssScore | undefined {
  for (const version of versions) {
    const [best] = scores.filter((one) => one?.version === version).toSorted((a, b) => b!.score - a!.score);
    if (best) return best;
  }
  return undefined;
}

/** The band of a score (CVSS 3.0 to 4.0, table of qualitative ratings; for 2.0 as the National Vulnerability Database has it). */
export function rateCvssScore({ version, score }: CvssScore): Severity {
  if (version === '2.0') return score >= 7 ? 'high' : score >= 4 ? 'medium' : 'low';
  if (score >= 9) return 'critical';
  if (score >= 7) return 'high';
  if (score >= 4) return 'medium';
  return score > 0 ? 'low' : 'none';
}
