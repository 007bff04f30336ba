import { severities, type Candidate, type RenderedRow, type Severity } from '../../analysis/candidate.ts';
import { isSeverityAtLeast } from '../../analysis/severity.ts';
import { truncateText, escapeInvisible } from '../../../platform/lib/text/canonical-text.ts';
import { isRecordId, isTimeField } from '../../analysis/rows/row-times.ts';
import { createNeedsReview, reviewOfUnconfirmed, type NeedsReview } from '../planted-text/needs-review.ts';
import { keepNamedFields } from '../planted-text/named-text.ts';
import { withoutOutsideText } from '../planted-text/outside-text.ts';
import { screenCandidate } from '../planted-text/screen-candidate.ts';
import { createPromptRepeats, type PromptRepeats } from './prompt-repeats.ts';
import { findOutsideNames, findUnknownNames, isAccusing } from './unknown-names.ts';
import { findUnverifiedClaims } from './unverified-claims.ts';
import { selectEvidence } from '../analyst/evidence.ts';
import { collectCandidateText, containsWhole, type KnownText } from './known-text.ts';
import { maskValues, type MaskedText } from './mask-values.ts';
import { truncateAtWord } from '../../analysis/wording.ts';
import { splitSentences } from './sentences.ts';
import type { VerdictEvidence, Verdict } from '../verdict.ts';
import type { DetectionTexts } from '../detection-texts.ts';
import { createAnalystVerdict } from '../analyst/analyst.ts';
import { judgeRules } from '../model/judge-prompt.ts';
import { describeCandidate } from '../analyst/wording.ts';

const evidenceMax = 20;
const quotedMin = 8;
const lengths = { headline: 300, summary: 2_000, nextStep: 1_000, why: 300 };

/** A claim removed from a verdict. `where` is a field of the verdict. */
export type StruckClaim = { where: string; text: string; reason: string };

/**
 * `verdict` contains only verified claims. `modelDisagrees` is the judge's reason if the facts overruled it. `needsReview` is set if
 * the rows contain text addressed to a model, so that a person must decide.
 */
export type VerifiedVerdict = {
  verdict: Verdict;
  triggered: boolean;
  struck: StruckClaim[];
  modelDisagrees: string | null;
  needsReview: NeedsReview | null;
};

/**
 * Verifies a verdict against the candidate's rows and facts. Evidence must be in the rows and must be more than a time or an ID.
 * Sentences with claims that are not in the rows or facts, or that repeat a prompt, are struck. Without evidence there is no hit,
 * except that candidates of severity high or above are always hits. So are candidates whose rows contain text addressed to a model, and
 * those whose dismissal or lower severity was not confirmed: their verdict is that of the built-in analyst, whatever the judge says.
 */
export function verifyVerdict(submitted: Verdict, candidate: Candidate, detection: DetectionTexts): VerifiedVerdict {
  const { planted, quotable } = screenCandidate(candidate);
  const { plantedTools = [], unconfirmed } = submitted.trace ?? {};
  const needsReview = createNeedsReview(planted, plantedTools) ?? (unconfirmed && reviewOfUnconfirmed(unconfirmed));
  const outside = submitted.trace?.outside ?? submitted.outsideContext ?? [];
  const outsideContext = outside.length > 0 ? { outsideContext: outside } : {};
  const struck: StruckClaim[] = [];
  const known = collectCandidateText(quotable, detection);
  // The built-in analyst sees no prompt.
  const repeats = createPromptRepeats(submitted.trace ? listPrivateTexts(detection) : []);
  // The built-in analyst is not persuaded by what it reads.
  const bare = submitted.trace && withoutOutsideText(quotable)?.candidate;
  const names = submitted.trace && createNameCheck(quotable, detection);
  const claims = { known, repeats, names };
  const evidence = submitted.evidence
    .slice(0, evidenceMax)
    .flatMap((item) => checkEvidence(item, quotable.rows, claims, struck));
  const context = { candidate: quotable, fallback: bare ?? quotable, detection, ...claims };
  const texts = checkTexts(submitted, context, struck);
  if (needsReview) {
    const verdict = createAnalystVerdict(candidate, detection, needsReview);
    return {
      verdict: { ...verdict, ...outsideContext },
      triggered: true,
      struck: submitted.trace ? struck : [],
      modelDisagrees: describeOverruled(submitted, needsReview),
      needsReview,
    };
  }
  const isTriggered = submitted.triggered && evidence.length > 0;
  const isAlwaysHit = isSeverityAtLeast(candidate.severity, 'high');
  const finalEvidence = isAlwaysHit && evidence.length === 0 ? selectEvidence(quotable) : evidence;
  const verdict: Verdict = {
    entity: candidate.entity,
    entityType: candidate.entityType,
    triggered: isTriggered || isAlwaysHit,
    confidence: clampConfidence(submitted.confidence),
    severity: chooseSeverity(submitted.severity, candidate, { isAlwaysHit, mayRaise: bare === undefined }),
    ...texts,
    evidence: finalEvidence,
    ...(submitted.output === undefined ? {} : { output: checkOutput(submitted.output, claims) }),
    ...outsideContext,
  };
  return {
    verdict,
    triggered: verdict.triggered,
    struck,
    modelDisagrees: isAlwaysHit
      ? describeDisagreement(submitted, texts.summary, finalEvidence.length > 0 && !isTriggered, candidate)
      : null,
    needsReview: null,
  };
}

const overruledNotes: Record<NeedsReview['reason'], string> = {
  planted_text: 'it read text that is addressed to a model.',
  free_text: 'not without free text that an outsider can write.',
  outside_context: 'not without context that the organization did not write.',
};

/** Returns why the verdict of a judge does not count, or null if it was not milder than the facts. */
function describeOverruled({ triggered, severity, trace }: Verdict, { reason }: NeedsReview): string | null {
  if (!triggered) return `The judge dismissed it, but ${overruledNotes[reason]}`;
  return trace?.unconfirmed ? `The judge rated it ${severity}, but ${overruledNotes[reason]}` : null;
}

/** Returns the texts that no verdict may repeat: the author's prompt and documents, the instructions of the run and the rules of the judge. */
function listPrivateTexts({ systemPrompt, customInstructions, contextDocs = [] }: DetectionTexts): string[] {
  return [systemPrompt, customInstructions ?? '', judgeRules, ...contextDocs.map(({ content }) => content ?? '')];
}

/** Removes texts that repeat a prompt, or names of outsiders' texts, from an author's own output format. */
function checkOutput(value: unknown, claims: ClaimContext): unknown {
  if (typeof value === 'string') {
    const sentences = splitSentences(value);
    if (sentences.some((sentence) => claims.repeats.repeats(sentence))) return '[removed: repeats the prompt]';
    const isNamed = sentences.some((sentence) => findOutside(sentence, claims).length > 0);
    return isNamed ? '[removed: names that only free text contains]' : value;
  }
  if (Array.isArray(value)) return value.map((item) => checkOutput(item, claims));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, checkOutput(inner, claims)]));
}

const clampConfidence = (confidence: number): number =>
  Number.isFinite(confidence) ? Math.round(Math.min(100, Math.max(0, confidence))) : 0;

/** Free text that outsiders control may persuade a model to raise the severity, so it then stays at most that of the facts. */
function chooseSeverity(
  judged: Severity,
  { severity }: Candidate,
  { isAlwaysHit, mayRaise }: { isAlwaysHit: boolean; mayRaise: boolean },
): Severity {
  if (!severities.includes(judged)) return severity;
  const isHigher = judged !== severity && isSeverityAtLeast(judged, severity);
  const isLower = !isSeverityAtLeast(judged, severity);
  return (isHigher && !mayRaise) || (isLower && isAlwaysHit) ? severity : judged;
}

/** Returns why the judge and the facts differ, in the judge's verified words where possible, or null if they agree. */
function describeDisagreement(
  submitted: Verdict,
  summary: string,
  isOverruled: boolean,
  { severity }: Candidate,
): string | null {
  if (!submitted.triggered) return summary;
  if (isOverruled) return 'None of the evidence from the judge is in the rows.';
  return isSeverityAtLeast(submitted.severity, severity) ? null : `The judge rated it ${submitted.severity}.`;
}

function checkEvidence(
  item: VerdictEvidence,
  rows: readonly RenderedRow[],
  context: ClaimContext,
  struck: StruckClaim[],
): VerdictEvidence[] {
  const reason = findEvidenceProblem(item, rows);
  if (reason !== undefined) {
    struck.push({ where: 'evidence', text: truncateText(escapeInvisible(`${item.field}=${item.value}`), 300), reason });
    return [];
  }
  const why = truncateText(escapeInvisible(item.why), lengths.why);
  const problem = findProblem(why, context);
  if (problem === undefined) return [{ ...item, why }];
  struck.push({ where: 'why', text: why, reason: problem });
  return [{ ...item, why: '' }];
}

/** `named` is the text of the fields in which a name counts. The functions select quoted values that are free text, or not of these fields. */
type NameCheck = {
  candidate: Candidate;
  named: KnownText;
  isFree: (value: string) => boolean;
  isOther: (value: string) => boolean;
};
/** `names` is absent for the built-in analyst, which repeats no text as its own. */
type ClaimContext = { known: KnownText; repeats: PromptRepeats; names: NameCheck | undefined };

function createNameCheck(candidate: Candidate, detection: DetectionTexts): NameCheck {
  const { candidate: kept, freeTexts, otherValues } = keepNamedFields(candidate);
  const isOf =
    (values: ReadonlySet<string>) =>
    (quoted: string): boolean =>
      values.has(quoted) ||
      (quoted.endsWith(' …') && [...values].some((value) => value.startsWith(quoted.slice(0, -2))));
  const named = collectCandidateText(kept, detection);
  return { candidate: kept, named, isFree: isOf(freeTexts), isOther: isOf(otherValues) };
}

const outsideNames = 'only in free text of outsiders: ';

/** Returns the names that only outsiders' texts contain. Free text is read where it is quoted, and in accusations every such text. */
function findOutside(
  sentence: string,
  { known, names }: ClaimContext,
  restore: MaskedText['unmask'] = (text) => text,
): string[] {
  if (names === undefined) return [];
  const isShown = isAccusing(restore(sentence)) ? names.isOther : names.isFree;
  return findOutsideNames(restore(sentence, isShown), known, names.named);
}

/** Returns why a sentence cannot stand, or undefined. `restore` turns masked values back into text. */
function findProblem(
  sentence: string,
  claims: ClaimContext,
  restore: MaskedText['unmask'] = (text) => text,
): string | undefined {
  const { known, repeats } = claims;
  if (repeats.repeats(restore(sentence))) return 'repeats the prompt';
  const unverified = [...findUnverifiedClaims(sentence, known), ...findUnknownNames(sentence, known)];
  if (unverified.length > 0) return describeMissing(unverified.map((claim) => restore(claim)));
  const outside = findOutside(sentence, claims, restore);
  return outside.length > 0 ? `${outsideNames}${listClaims(outside)}` : undefined;
}

function findEvidenceProblem(
  { rowId, field, value }: VerdictEvidence,
  rows: readonly RenderedRow[],
): string | undefined {
  const citedRows = rows.filter((row) => row.rowId === rowId || row.eventIds?.includes(rowId));
  if (citedRows.length === 0) return 'the entity has no row with this ID';
  const values = citedRows.flatMap(({ fields }) => (Object.hasOwn(fields, field) ? fields[field]! : []));
  if (values.length === 0) return 'the row does not have this field';
  if (!values.some((text) => isQuoted(text, value))) return 'the field has a different value';
  const isTimeOrId = isTimeField(field, value) || isTimeField(field, values[0]!) || isRecordId(field, values[0]!);
  return isTimeOrId ? 'the field is only a time or an ID' : undefined;
}

/** Returns whether evidence quotes a complete value, or at least 8 characters of whole words. Part of an address or name would be a different one. */
function isQuoted(text: string, value: string): boolean {
  const quoted = value.trim();
  if (quoted === '') return false;
  if (quoted === text.trim()) return true;
  const isPart = quoted.length >= quotedMin && text.includes(quoted);
  return isPart && containsWhole({ text: text.toLowerCase() }, quoted.toLowerCase());
}

type VerdictTexts = Pick<Verdict, 'headline' | 'summary' | 'nextStep'>;
/** `fallback` is what the built-in analyst describes if a text was struck completely. */
type TextContext = ClaimContext & { candidate: Candidate; fallback: Candidate; detection: DetectionTexts };

function checkTexts(
  submitted: Verdict,
  { candidate, fallback: described, detection, ...claims }: TextContext,
  struck: StruckClaim[],
): VerdictTexts {
  const check = (where: keyof VerdictTexts): string => {
    const { masked, unmask } = maskValues(visibleLines(submitted[where].slice(0, 2 * lengths[where])), candidate);
    const kept = splitSentences(masked).filter((sentence) => {
      const problem = findProblem(sentence, claims, unmask);
      if (problem !== undefined) struck.push({ where, text: truncateText(unmask(sentence), 300), reason: problem });
      return problem === undefined;
    });
    return truncateAtWord(unmask(kept.join(' ')), lengths[where]);
  };
  const fallback = describeCandidate(described, detection);
  const texts = {
    // The author's template may contain numbers and names of its own.
    headline: submitted.headline === fallback.headline ? fallback.headline : check('headline'),
    summary: check('summary'),
    nextStep: check('nextStep'),
  };
  // Texts that were struck completely are replaced by those of the built-in analyst, who does not quote a name that was struck either.
  const mayQuote =
    !claims.names || !struck.some(({ text, reason }) => reason.startsWith(outsideNames) || isAccusing(text));
  const { headline, summary, nextStep } = mayQuote ? fallback : describeCandidate(claims.names!.candidate, detection);
  return {
    headline: texts.headline || headline,
    summary: texts.summary || summary,
    nextStep: texts.nextStep || nextStep,
  };
}

/** Escapes invisible characters, but keeps line breaks, which end sentences. */
function visibleLines(text: string): string {
  return text.split(/\r?\n/).map(escapeInvisible).join('\n');
}

function describeMissing(claims: readonly string[]): string {
  return `not in the rows: ${listClaims(claims)}`;
}

const listClaims = (claims: readonly string[]): string => truncateText(escapeInvisible(claims.join(', ')), 200);
