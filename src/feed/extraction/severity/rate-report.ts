import { cue } from '../lexicon/lexicon.ts';
import type { ExtractedName } from '../names/extracted-name.ts';
import {
  deniesExploitation,
  isActivity,
  isThreat,
  mentionsActingName,
  mentionsExploitingName,
  mentionsName,
  isSubject,
  subjectStatements,
  isExploitation,
  openingStatements,
} from './event-checks.ts';
import { reportRules, type ReportRule } from './report-rules.ts';
import { readStatements, statesCue, type Statement } from './report-statements.ts';
import { type Sentence, findSentences } from '../text/sentence-spans.ts';
import type { Span } from '../text/stored-text.ts';
import { severities, type Severity } from '../../model/vocabulary.ts';
import { extractNames } from '../names/extract-names.ts';
import type { NameDictionary } from '../names/dictionary/name-dictionary.ts';
import { judgeSeverity, statesSeverity, type SeverityRating } from './judge-severity.ts';

export type ReportRating = { severity: Severity; rule: string; evidence: Span[] };

type ReportToRate = {
  title: string;
  text: string;
  sentences: Sentence[];
  names: ExtractedName[];
  /** Number of active indicators. */
  indicators: number;
  publishTime?: string | undefined;
  language?: string | undefined;
  sourceUrl?: string | undefined;
};

const evidenceMax = 3;
/** Advice with this many statements about scams is rated as a report on scams. */
const scamStatements = 2;

/**
 * Rates a report by a rubric: the first rule whose statements the report makes, from critical to low. Denials, possibilities, advice, remarks on
 * attacks in general, and events more than two years before the publication state nothing. The lead decides what the report is about. Attacks in a
 * text whose title only discloses a vulnerability do not count. Guides are low at most, descriptions of products none, and collections of stories
 * high at most. `evidence` has the deciding sentences.
 */
export function rateReport(report: ReportToRate): ReportRating {
  const { lead: sentences, body } = readStatements(report);
  const lead = sentences.map((one) => ({
    ...one,
    hasActingName: mentionsActingName(one, report.names),
    hasExploitingName: mentionsExploitingName(one, report.names),
  }));
  const kind = readReportKind({ ...report, lead });
  const unrated: ReportRating = { severity: 'none', rule: 'none', evidence: [] };
  if (kind === 'definition') return unrated;
  if (kind === 'promotion') {
    const scams = lead.filter((one) => !one.isOld && statesCue(one, 'low'));
    return scams.length >= scamStatements
      ? { severity: 'low', rule: 'report:nuisance', evidence: listSpans(scams) }
      : unrated;
  }
  const isCurrent = ({ isAsserted, isOld }: Statement): boolean => isAsserted && !isOld;
  const view = {
    lead: lead.filter(isCurrent),
    body: body.filter(isCurrent),
    names: report.names,
    isUnexploited: deniesExploitation(lead),
    indicators: report.indicators,
  };
  const max: Severity = kind === 'guide' ? 'low' : isDigest(report.title, report.sourceUrl) ? 'high' : 'critical';
  for (const { id, severity, find } of reportRules) {
    const found = find(view);
    if (found.length === 0 || (severity === 'critical' && max === 'high')) continue;
    if (rank(severity) > rank(max)) return { severity: max, rule: 'report:guide', evidence: listSpans(found) };
    return { severity, rule: id, evidence: listEvidence(found, lead, report.names) };
  }
  const old = lead.filter((one) => one.isAsserted && one.isOld && (isThreat(one) || isActivity(one)));
  if (isSubject(old, lead)) return { severity: 'low', rule: 'report:old', evidence: listSpans(old) };
  if (kind === 'guide') return unrated;
  for (const { id, severity, find } of fallbackRules) {
    const found = find(view);
    if (found.length > 0) return { severity, rule: id, evidence: listSpans(found) };
  }
  const denied = findDenial(lead);
  return denied.length > 0 ? { severity: 'low', rule: 'report:denied', evidence: listSpans(denied) } : unrated;
}

/** Finds denials of an attack that the text mentions as a claim. */
function findDenial(lead: Statement[]): Statement[] {
  if (!lead.some(({ text }) => cue('claim').test(text))) return [];
  return lead.filter((one) => cue('negation').test(one.full) && cue('attacker').test(one.full));
}

const rank = (severity: Severity): number => severities.indexOf(severity);
const listSpans = (statements: Statement[]): Span[] =>
  statements.flatMap(({ span }) => span ?? []).slice(0, evidenceMax);

/** Returns the deciding sentences. If only the title decides, the first sentence of the text that repeats a name of the title. */
function listEvidence(found: Statement[], lead: Statement[], names: ExtractedName[]): Span[] {
  const spans = listSpans(found);
  if (spans.length > 0) return spans;
  const title = found.find(({ isTitle }) => isTitle)?.text ?? '';
  const forms = names.flatMap(({ printed }) => printed).filter((form) => title.includes(form));
  return lead.flatMap(({ span, text }) => (span && forms.some((form) => text.includes(form)) ? span : [])).slice(0, 1);
}

/** This many active indicators describe a threat even without prose. */
const listedIndicators = 3;

/** The last rules, for texts that no other rule rates and that describe no old event. */
const fallbackRules: ReportRule[] = [
  {
    id: 'report:indicators',
    severity: 'medium',
    find: ({ lead, body, names, indicators }) => {
      if (indicators < listedIndicators) {
        // One indicator of known malware or a known actor describes a threat, too.
        return indicators > 0 ? lead.filter((one) => !one.isTitle && mentionsName(one, names)).slice(0, 1) : [];
      }
      const stated = [...lead, ...body].filter(({ text }) => cue('indicator').test(text));
      return stated.length > 0 ? stated : lead.slice(0, 1);
    },
  },
  {
    id: 'report:threat',
    severity: 'medium',
    find: ({ lead }) => {
      const opening = lead.slice(0, subjectStatements);
      const isAboutMalware = opening.some((one) => one.isTitle && statesCue(one, 'malware'));
      const found = opening.filter(
        (one) => isThreat(one) && (isAboutMalware || isActivity(one)) && !cue('claim').test(one.text),
      );
      return found.length > 1 ? found : [];
    },
  },
  // Findings of researchers that no other rule names: exposed systems, leaks, tricks.
  {
    id: 'report:finding',
    severity: 'low',
    find: ({ lead }) => {
      const isAbout = lead.some(({ isTitle, text }) => isTitle && cue('findingTitles').test(text));
      return isAbout ? lead.slice(0, subjectStatements).filter((one) => !one.isTitle && isActivity(one)) : [];
    },
  },
];

type DescribedRecord = {
  title: string;
  description: string;
  /** The severity that the source states. */
  word: string | undefined;
  publishTime: string | undefined;
  names: NameDictionary | undefined;
};

const descriptionMaxChars = 100_000;

/** Rates a record that describes a threat in prose: by the severity that the source or the description states, otherwise as a report. */
export function rateDescription({ title, description, word, publishTime, names }: DescribedRecord): SeverityRating {
  if (word !== undefined || statesSeverity(description))
    return judgeSeverity({ word, text: description, exploited: 'no' });
  const text = description.slice(0, descriptionMaxChars);
  const found: ExtractedName[] = extractNames(`${title}\n${text}`, names);
  const { severity, rule } = rateReport({
    title,
    text,
    sentences: findSentences(text),
    names: found,
    indicators: 0,
    publishTime,
  });
  return { severity, rule };
}

/**
 * `guide` explains how to do or detect something; `promotion` describes products, awards, invented cases, or security in general; `definition`
 * explains a term.
 */
type ReportKind = 'report' | 'guide' | 'promotion' | 'definition';

const headingReach = 14;

const definitionTitles = /^what (?:is|are)\b/i;
const definitionSlugs = /\/what-(?:is|are)-[^/]*\/?$/i;
/** Addresses of texts that explain a term or a task: `/what-is-a-worm`. Their titles may be missing. */
const guideSlugs = /\/(?:what-(?:is|are)|how-to|how-do)-[^/]*\/?$/i;
const guidePaths =
  /\/(?:tutorials?|[\w-]*glossary|faqs?|guides?|scenarios?|how-?to|cheat-?sheets?|webinars?|products?|pricing|solutions|awards|events|training|academy|university|education|courses?|learn|support|kb|careers)\//i;

/** Returns whether a title is that of a collection of stories, none of which is the subject of the whole text. */
const isDigest = (title: string, sourceUrl = ''): boolean =>
  cue('digestTitle').test(title) ||
  cue('digestTitle').test(sourceUrl.replace(/^https?:\/\/[^/]*/, '').replaceAll(/[-_/]/g, ' '));

const isFiction = ({ full }: Statement): boolean =>
  cue('fiction').test(full) && !/\b(?:not|never|no longer)\b|n['’]t\b/i.test(full);

type KindInput = { lead: Statement[]; indicators: number; names: ExtractedName[]; sourceUrl?: string | undefined };

/** Determines the kind of a text from its title and lead. */
function readReportKind(report: KindInput): ReportKind {
  const { lead, names, sourceUrl = '' } = report;
  const title = titleOf(lead);
  if (lead.slice(0, openingStatements).some(isFiction)) return 'promotion';
  const isGuide =
    (cue('guideTitle').test(title) || guideSlugs.test(sourceUrl) || explainsTerm(lead) || declaresGuide(report)) &&
    !hasNameIn(title, names, 'actor');
  const isOnGuidePage = guidePaths.test(sourceUrl) && !statesNamedActivity(lead, names);
  if (!isGuide && !isOnGuidePage) return isPromotion(report) ? 'promotion' : 'report';
  if (hasNameIn(title, names, 'malware') || mentionsCve(lead)) return 'guide';
  return definitionTitles.test(title) || definitionSlugs.test(sourceUrl) ? 'definition' : 'promotion';
}

const titleOf = (lead: Statement[]): string => lead.find(({ isTitle }) => isTitle)?.text ?? '';

const hasNameIn = (title: string, names: ExtractedName[], kind: ExtractedName['kind']): boolean =>
  names.some((name) => name.kind === kind && name.printed.some((form) => title.includes(form)));

const cveId = /\bCVE-\d{4}-\d{4,}/i;
const mentionsCve = (lead: Statement[]): boolean => lead.some(({ text }) => cveId.test(text));

const isReportedActivity = (one: Statement): boolean => one.isAsserted && statesCue(one, 'activity');
const statesNamedActivity = (lead: Statement[], names: ExtractedName[]): boolean =>
  lead.some((one) => isReportedActivity(one) && mentionsName(one, names));

/** Returns whether a text reports something certain: what a named threat does, malware that was observed, or a vulnerability with an ID. */
const reportsThreat = ({ lead, names }: KindInput): boolean =>
  statesNamedActivity(lead, names) ||
  lead.some((one) => one.isAsserted && statesCue(one, 'observation') && statesCue(one, 'malware')) ||
  mentionsCve(lead);

const declaresGuide = (report: KindInput): boolean =>
  report.lead.slice(0, headingReach).some(({ full }) => cue('guideDeclaration').test(full)) && !reportsThreat(report);

/** Returns whether a heading asks what a term means before the text reports an attack. */
function explainsTerm(lead: Statement[]): boolean {
  const heading = lead
    .slice(0, headingReach)
    .findIndex(({ full }) => full.endsWith('?') && cue('definitionHeading').test(full));
  const reportsAttack = (one: Statement): boolean =>
    one.isAsserted && (isExploitation(one) || (one.isTitle && isActivity(one) && isThreat(one)));
  return heading >= 0 && !cveId.test(titleOf(lead)) && !lead.slice(0, heading).some(reportsAttack);
}

/** Returns whether a text says more about products or security in general than about what happened. */
function isPromotion(report: KindInput): boolean {
  const { lead, indicators, sourceUrl } = report;
  const promoted = lead.filter(({ text }) => cue('promotion').test(text)).length;
  return (
    promoted >= 2 &&
    promoted > lead.filter(isReportedActivity).length &&
    indicators < 3 &&
    !isDigest(titleOf(lead), sourceUrl) &&
    !reportsThreat(report)
  );
}
