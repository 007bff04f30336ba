import type { ExtractedName } from '../names/extracted-name.ts';
import { isActivity, isExploitation, isThreat, mentionsName, openingStatements } from './event-checks.ts';
import { cue } from '../lexicon/lexicon.ts';
import { statesCue, type Statement } from './report-statements.ts';

/**
 * `guide` explains how to do or detect something; `promotion` describes products, awards, invented cases, or security in general; `definition`
 * explains a term.
 */
export type ReportKind = 'report' | 'guide' | 'promotion' | 'definition';

const headingReach = 14;

const definitionTitles = /^what (?:is|are)\b/i;
const definitionSlugs = /\/what-(?:is|are)-[^/]*\/?$/i;
/** Addresses of texts that explain a term or a task: `/what-is-a-worm`. Their titles may be missing. */
const guideSlugs = /\/(?:what-(?:is|are)|how-to|how-do)-[^/]*\/?$/i;
const guidePaths =
  /\/(?:tutorials?|[\w-]*glossary|faqs?|guides?|scenarios?|how-?to|cheat-?sheets?|webinars?|products?|pricing|solutions|awards|events|training|academy|university|education|courses?|learn|support|kb|careers)\//i;

/** Returns whether a title is that of a collection of stories, none of which is the subject of the whole text. */
export const isDigest = (title: string, sourceUrl = ''): boolean =>
  cue('digestTitle').test(title) ||
  cue('digestTitle').test(sourceUrl.replace(/^https?:\/\/[^/]*/, '').replaceAll(/[-_/]/g, ' '));

const isFiction = ({ full }: Statement): boolean =>
  cue('fiction').test(full) && !/\b(?:not|never|no longer)\b|n['’]t\b/i.test(full);

type KindInput = { lead: Statement[]; indicators: number; names: ExtractedName[]; sourceUrl?: string | undefined };

/** Determines the kind of a text from its title and lead. */
export function readReportKind(report: KindInput): ReportKind {
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
