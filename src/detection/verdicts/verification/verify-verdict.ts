import { severities, type Candidate, type RenderedRow, type Severity } from '../../analysis/candidate.ts';
import { isAtLeast } from '../../analysis/severity.ts';
import { cutText, visibleText } from '../../../platform/lib/text/canonical-text.ts';
import { isRecordId, isTime } from '../../analysis/rows/times.ts';
import { unprovenClaims } from './claims.ts';
import { tellingEvidence } from '../analyst/evidence.ts';
import { knownOf, stands, type Known } from './known-text.ts';
import { maskValues } from './mask-values.ts';
import { cutWords } from '../analyst/quote-value.ts';
import { sentencesOf } from './sentences.ts';
import type { Evidence, Verdict } from '../verdict.ts';
import { wordingOf } from '../analyst/wording.ts';

const evidenceMax = 20;
const quotedMin = 8;
const lengths = { headline: 300, summary: 2_000, nextStep: 1_000, why: 300 };

/** What did not check out: `where` is a field of the verdict. */
type Struck = { where: string; text: string; reason: string };

/** `verdict` holds only what stands in the rows and facts; `modelDisagrees` is the judge's reason where the facts overruled it. */
export type Verified = { verdict: Verdict; triggered: boolean; struck: Struck[]; modelDisagrees: string | null };

/**
 * Holds a verdict against the candidate's rows. Evidence must be in them and name more than times and ids; sentences must cite nothing
 * that is not in them or in the facts; what fails is struck, and an entity left without evidence is no hit. Facts of severity
 * high or above stay a hit whatever the judge says.
 */
export function verifyVerdict(given: Verdict, candidate: Candidate): Verified {
  const struck: Struck[] = [];
  const known = knownOf(candidate);
  const evidence = given.evidence
    .slice(0, evidenceMax)
    .flatMap((item) => checkEvidence(item, candidate.rows, known, struck));
  const texts = checkTexts(given, candidate, known, struck);
  const says = given.triggered && evidence.length > 0;
  const isFloor = isAtLeast(candidate.severity, 'high');
  const own = isFloor && evidence.length === 0 ? tellingEvidence(candidate) : evidence;
  const verdict: Verdict = {
    entity: candidate.entity,
    entityType: candidate.entityType,
    triggered: says || isFloor,
    confidence: Number.isFinite(given.confidence) ? Math.round(Math.min(100, Math.max(0, given.confidence))) : 0,
    severity: severityOf(given.severity, candidate, isFloor),
    ...texts,
    evidence: own,
    ...(given.output === undefined ? {} : { output: given.output }),
  };
  return {
    verdict,
    triggered: verdict.triggered,
    struck,
    modelDisagrees: isFloor ? disagreement(given, texts.summary, own.length > 0 && !says, candidate) : null,
  };
}

function severityOf(given: Severity, { severity }: Candidate, isFloor: boolean): Severity {
  if (!severities.includes(given)) return severity;
  return isFloor && !isAtLeast(given, severity) ? severity : given;
}

/** Why the judge and the facts differ, in the judge's own words as far as they check out. */
function disagreement(given: Verdict, summary: string, isOverruled: boolean, { severity }: Candidate): string | null {
  if (!given.triggered) return summary;
  if (isOverruled) return 'None of the evidence that the judge gave is in the rows.';
  return isAtLeast(given.severity, severity) ? null : `The judge rated it ${given.severity}.`;
}

function checkEvidence(item: Evidence, rows: readonly RenderedRow[], known: Known, struck: Struck[]): Evidence[] {
  const reason = faultOf(item, rows);
  if (reason !== undefined) {
    struck.push({ where: 'evidence', text: cutText(visibleText(`${item.field}=${item.value}`), 300), reason });
    return [];
  }
  const why = cutText(visibleText(item.why), lengths.why);
  const unproven = unprovenClaims(why, known);
  if (unproven.length === 0) return [{ ...item, why }];
  struck.push({ where: 'why', text: why, reason: notInRows(unproven) });
  return [{ ...item, why: '' }];
}

function faultOf({ rowId, field, value }: Evidence, rows: readonly RenderedRow[]): string | undefined {
  const named = rows.filter((row) => row.rowId === rowId || row.eventIds?.includes(rowId));
  if (named.length === 0) return 'the entity has no such row';
  const found = named.flatMap(({ fields }) => (Object.hasOwn(fields, field) ? fields[field]! : []));
  if (found.length === 0) return 'the row has no such field';
  if (!found.some((text) => isQuoted(text, value))) return 'the field has another value';
  const isNoEvidence = isTime(field, value) || isTime(field, found[0]!) || isRecordId(field, found[0]!);
  return isNoEvidence ? 'it names only a time or an id' : undefined;
}

/** The whole value, or whole words of it, enough to be told from others: a piece of an address or a name would be another one. */
function isQuoted(text: string, value: string): boolean {
  const quoted = value.trim();
  if (quoted === '') return false;
  if (quoted === text.trim()) return true;
  const isPart = quoted.length >= quotedMin && text.includes(quoted);
  return isPart && stands({ text: text.toLowerCase() }, quoted.toLowerCase());
}

type Texts = Pick<Verdict, 'headline' | 'summary' | 'nextStep'>;

function checkTexts(given: Verdict, candidate: Candidate, known: Known, struck: Struck[]): Texts {
  const check = (where: keyof Texts): string => {
    const { masked, unmask } = maskValues(visibleLines(given[where].slice(0, 2 * lengths[where])), candidate);
    const kept = sentencesOf(masked).filter((sentence) => {
      const unproven = unprovenClaims(sentence, known).map(unmask);
      if (unproven.length > 0)
        struck.push({ where, text: cutText(unmask(sentence), 300), reason: notInRows(unproven) });
      return unproven.length === 0;
    });
    return cutWords(unmask(kept.join(' ')), lengths[where]);
  };
  const texts = { headline: check('headline'), summary: check('summary'), nextStep: check('nextStep') };
  // A hit needs words: where none of the judge's are left, those that code makes of the facts stand in.
  const own = wordingOf(candidate);
  return {
    headline: texts.headline || own.headline,
    summary: texts.summary || own.summary,
    nextStep: texts.nextStep || own.nextStep,
  };
}

/** Hidden characters written out, line ends kept for the cut into sentences. */
function visibleLines(text: string): string {
  return text.split(/\r?\n/).map(visibleText).join('\n');
}

function notInRows(claims: readonly string[]): string {
  return `not in the rows: ${cutText(visibleText(claims.join(', ')), 200)}`;
}
