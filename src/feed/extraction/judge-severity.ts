import { ownValue } from '../../platform/lib/own-value.ts';
import { severities, type Severity } from '../model/vocabulary.ts';
import { rateCvssScore, type CvssScore } from './cvss.ts';

export type SeverityRating = { severity: Severity; rule: string };

/** What the Known Exploited Vulnerabilities catalogue says of the item's own CVE. */
export type KevListing = 'listed' | 'ransomware' | 'no';

const words: Record<string, Severity> = {
  none: 'none',
  low: 'low',
  medium: 'medium',
  moderate: 'medium',
  high: 'high',
  important: 'high',
  critical: 'critical',
  // As CERT-Bund writes them.
  niedrig: 'low',
  mittel: 'medium',
  hoch: 'high',
  kritisch: 'critical',
};

// Only what a text states about itself; what follows from its subject is no cue.
const cues: [RegExp, string][] = [
  [/\b(critical|high|medium|moderate|low)[- ]severity\b/i, '$1'],
  [/\bseverity\s*(?:is|of|:|=)\s*"?(critical|high|medium|moderate|low)\b/i, '$1'],
  [/\bcritical (?:vulnerability|flaw|bug)\b/i, 'critical'],
  [/\b(?:actively|being) exploited\b|\bexploited in the wild\b|\bzero[- ]day\b/i, 'high'],
];
const cueMaxChars = 20_000;

/**
 * Severity by rule (spec/feed.md, "event.severity"): the band of the CVSS scores, the highest where they are of several vulnerabilities
 * (of each the score that counts); else the source's own word, else a cue stated in the text (never above high), else none;
 * then the floor of a listed CVE: high, critical with known ransomware use. `rule` names what decided.
 */
export function judgeSeverity(given: {
  cvss?: CvssScore[];
  word?: string | undefined;
  text: string;
  exploited: KevListing;
}): SeverityRating {
  const base = rateScores(given.cvss ?? []) ?? rateText(given.word, given.text);
  const floor: SeverityRating | undefined = {
    no: undefined,
    listed: { severity: 'high' as const, rule: 'floor:kev' },
    ransomware: { severity: 'critical' as const, rule: 'floor:kev-ransomware' },
  }[given.exploited];
  return floor && rank(floor.severity) > rank(base.severity) ? floor : base;
}

function rateScores(scores: CvssScore[]): SeverityRating | undefined {
  const judged = scores.map((score) => ({ severity: rateCvssScore(score), rule: `cvss:${score.version}` }));
  return judged.toSorted((a, b) => rank(b.severity) - rank(a.severity))[0];
}

function rateText(word: string | undefined, text: string): SeverityRating {
  const key = word?.trim().toLowerCase() ?? '';
  const own = ownValue(words, key);
  if (own) return { severity: own, rule: 'source' };
  const start = text.slice(0, cueMaxChars);
  for (const [index, [pattern, result]] of cues.entries()) {
    const match = pattern.exec(start);
    const found = match && words[result.replace('$1', match[1] ?? '').toLowerCase()];
    if (found) return { severity: found === 'critical' ? 'high' : found, rule: `cue:${index + 1}` };
  }
  return { severity: 'none', rule: 'none' };
}

const rank = (severity: Severity): number => severities.indexOf(severity);
