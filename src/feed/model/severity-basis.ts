import type { SourceRecord } from './source-record.ts';

/** Returns what an item stores about its severity: the rule, followed by references to the passages that decided. */
export const toSeverityText = ({
  severityRule,
  severityEvidence = [],
}: Pick<SourceRecord, 'severityRule' | 'severityEvidence'>): string => [severityRule, ...severityEvidence].join(' ');

/** Reads the text of `toSeverityText`. Returns undefined if no passage decided. */
export function readSeverityBasis(text: string): { rule: string; evidenceRefs: string[] } | undefined {
  const [rule = '', ...evidenceRefs] = text.split(' ');
  return evidenceRefs.length === 0 ? undefined : { rule, evidenceRefs };
}
