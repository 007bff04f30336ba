import { ownValue } from '../../../platform/lib/json/json-values.ts';
import { severities, type Severity } from '../../model/vocabulary.ts';
import { rateCvssScore, type CvssScore } from '../cvss.ts';

export type SeverityRating = { severity: Severity; rule: string };

/** How the Known Exploited Vulnerabilities catalog lists the item's own CVE. */
export type KevListing = 'listed' | 'ransomware' | 'no';

const severityByWord: Record<string, Severity> = {
  none: 'none',
  low: 'low',
  medium: 'medium',
  moderate: 'medium',
  high: 'high',
  important: 'high',
  critical: 'critical',
  // CERT-Bund uses German words.
  niedrig: 'low',
  mittel: 'medium',
  hoch: 'high',
  kritisch: 'critical',
};

// Only explicit statements count as cues, not conclusions from the subject.
const cues: [RegExp, string][] = [
  [/\b(critical|high|medium|moderate|low)[- ]severity\b/i, '$1'],
  [/\bseverity\s*(?:is|of|:|=)\s*"?(critical|high|medium|moderate|low)\b/i, '$1'],
  [/\bcritical (?:vulnerability|flaw|bug)\b/i, 'critical'],
  [/\b(?:actively|being) exploited\b|\bexploited in the wild\b|\bzero[- ]day\b/i, 'high'],
];
const cueMaxChars = 20_000;

/**
 * Rates severity by rule. The first of these decides: the highest rating of the CVSS scores (one score per vulnerability), the source's own word, a
 * cue in the text (never above high), none. A CVE in the KEV catalog raises the result to at least high, or critical with known ransomware use.
 * `rule` identifies the deciding rule.
 */
export function judgeSeverity(input: {
  cvss?: CvssScore[];
  word?: string | undefined;
  text: string;
  exploited: KevListing;
}): SeverityRating {
  const base = rateScores(input.cvss ?? []) ?? rateText(input.word, input.text);
  const floor: SeverityRating | undefined = {
    no: undefined,
    listed: { severity: 'high' as const, rule: 'floor:kev' },
    ransomware: { severity: 'critical' as const, rule: 'floor:kev-ransomware' },
  }[input.exploited];
  return floor && rank(floor.severity) > rank(base.severity) ? floor : base;
}

function rateScores(scores: CvssScore[]): SeverityRating | undefined {
  const judged = scores.map((score) => ({ severity: rateCvssScore(score), rule: `cvss:${score.version}` }));
  return judged.toSorted((a, b) => rank(b.severity) - rank(a.severity))[0];
}

function rateText(word: string | undefined, text: string): SeverityRating {
  const key = word?.trim().toLowerCase() ?? '';
  const stated = ownValue(severityByWord, key);
  if (stated) return { severity: stated, rule: 'source' };
  const start = text.slice(0, cueMaxChars);
  for (const [index, [pattern, result]] of cues.entries()) {
    const match = pattern.exec(start);
    const found = match && severityByWord[result.replace('$1', match[1] ?? '').toLowerCase()];
    if (found) return { severity: found === 'critical' ? 'high' : found, rule: `cue:${index + 1}` };
  }
  return { severity: 'none', rule: 'none' };
}

/** Returns whether a text states a severity in so many words: `high severity`, `severity: critical`. */
export const statesSeverity = (text: string): boolean =>
  cues.slice(0, 2).some(([pattern]) => pattern.test(text.slice(0, cueMaxChars)));

const rank = (severity: Severity): number => severities.indexOf(severity);
