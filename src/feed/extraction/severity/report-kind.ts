import type { ExtractedName } from '../names/extracted-name.ts';
import { isActivity, isExploitation, isThreat, mentionsName } from './event-checks.ts';
import { activityCues, malwareCues, observationCue } from './severity-cues.ts';
import { statesCue, type Statement } from './report-statements.ts';
import { openingStatements } from './report-subject.ts';

/**
 * `guide` explains how to do or detect something; `promotion` describes products, awards, invented cases, or security in general; `definition`
 * explains a term.
 */
export type ReportKind = 'report' | 'guide' | 'promotion' | 'definition';

const guideTitles =
  /(?:^|: )understanding\b|^(?:what (?:is|are)|the anatomy of|meet|join us|interview|how to|how do|introducing|introduction to|announcing|tips|detecting|preventing|protecting|securing|why (?:you|i|we)|a? ?(?:beginner|complete|ultimate|practical|short|quick|comprehensive))\b|\b(?:guide|guides|tutorial|glossary|faq|best practices|cheat ?sheet|webinar|podcast|awards?|lessons (?:from|learned)|(?:for|to) beginners|must do|playbook|explained|explainer|101|checklist|\d+ (?:ways|tips|steps|best)|primer|buyer|readiness|preparedness|\p{L}+ questions|strateg(?:y|ies)|(?:red|purple) team(?:ing| assessments?| exercises?| engagements?| shares| findings)|penetration test\w*|acqui(?:red?|sition)|partner program|survey|hiring|tabletop|new (?:capabilities|features)|release notes|what['’]s new|named a|wins|debuts|launches)\b/iu;
/** A heading near the beginning of a text that explains a term: `What is ransomware?`. */
const definitionHeading = /^(?:\d+[.)] ?)?what (?:is|are) (?!(?:the )?CVE|this|that|it\b|new)[^.?]{1,60}\?$/i;
const headingReach = 14;
/** A statement that the text is a guide. */
const guideDeclaration = /\b(?:this|our) (?:[\p{L}-]+ ){0,2}(?:guide|tutorial|primer|course|lesson|handbook)\b/iu;
/** A statement that the cases of the text are invented. */
const fictionCues =
  /\b(?:fictional|fictitious|hypothetical|imaginary|made-up) (?:[\p{L}-]+ ){0,2}(?:cases?|scenarios?|compan(?:y|ies)|organi[sz]ations?|examples?|stud(?:y|ies)|incidents?|attacks?|breach(?:es)?|stor(?:y|ies)|firms?)\b|\b(?:is|are) (?:purely |entirely |completely )?(?:fictional|fictitious|hypothetical|invented|made up)\b/iu;

const definitionTitles = /^what (?:is|are)\b/i;
const definitionSlugs = /\/what-(?:is|are)-[^/]*\/?$/i;
/** Addresses of texts that explain a term or a task: `/what-is-a-worm`. Their titles may be missing. */
const guideSlugs = /\/(?:what-(?:is|are)|how-to|how-do)-[^/]*\/?$/i;
const guidePaths =
  /\/(?:tutorials?|[\w-]*glossary|faqs?|guides?|scenarios?|how-?to|cheat-?sheets?|webinars?|products?|pricing|solutions|awards|events|training|academy|university|education|courses?|learn|support|kb|careers)\//i;
const promotionCues =
  /\b(?:our (?:platform|solutions?|products?|customers|services?|team of)|helps? (?:you|organi[sz]ations|security teams|businesses|teams|protect|prevent|detect)|enables? (?:you|organi[sz]ations|security teams|security operations)|solutions? (?:that|for|such|designed|is|are)|features?|capabilit(?:y|ies)|integrates?|in this (?:guide|article|tutorial|course|lesson|post,? you)|you (?:can|should|need|will|must|['’]re)|your (?:organi[sz]ation|business|team|environment|data|network|security|code|application|dependencies)|learn (?:how|more|about)|is an? (?:[\p{L}-]+ ){0,4}(?:solution|platform|technology|process|type of|term|technique|practice|evolution)|refers? to|awards?|nominat\w+|recogni[sz]\w+|security teams?|provides? (?:organi[sz]ations|visibility|a)|this (?:comprehensive )?guide|(?:glossary|guide|article|tutorial|entry) (?:explains|covers|shows|walks)|use this|often described as|represents?|in the context of)\b/iu;

const digestTitles =
  /^WTB:|\b(?:(?:weekly|monthly)(?! (?:active|downloads|installs|users))|quarterly|annual|round-?up|digest|newsletter|recap|this week|last week|week in|month in|in review|briefing|bulletin|top \d+|trends? (?:report|in|for)|predictions?|threat (?:landscape|report)|patch tuesday|statistics|examples|recent (?:[\p{L}-]+ )?attacks)\b/iu;

/** Returns whether a title is that of a collection of stories, none of which is the subject of the whole text. */
export const isDigest = (title: string, sourceUrl = ''): boolean =>
  digestTitles.test(title) || digestTitles.test(sourceUrl.replace(/^https?:\/\/[^/]*/, '').replaceAll(/[-_/]/g, ' '));

const isFiction = ({ full }: Statement): boolean =>
  fictionCues.test(full) && !/\b(?:not|never|no longer)\b|n['’]t\b/i.test(full);

type KindInput = { lead: Statement[]; indicators: number; names: ExtractedName[]; sourceUrl?: string | undefined };

/** Determines the kind of a text from its title and lead. */
export function readReportKind(report: KindInput): ReportKind {
  const { lead, names, sourceUrl = '' } = report;
  const title = titleOf(lead);
  if (lead.slice(0, openingStatements).some(isFiction)) return 'promotion';
  const isGuide =
    (guideTitles.test(title) || guideSlugs.test(sourceUrl) || explainsTerm(lead) || declaresGuide(report)) &&
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

const isReportedActivity = (one: Statement): boolean =>
  one.isAsserted && activityCues.some((cue) => statesCue(one, cue));
const statesNamedActivity = (lead: Statement[], names: ExtractedName[]): boolean =>
  lead.some((one) => isReportedActivity(one) && mentionsName(one, names));

/** Returns whether a text reports something certain: what a named threat does, malware that was observed, or a vulnerability with an ID. */
const reportsThreat = ({ lead, names }: KindInput): boolean =>
  statesNamedActivity(lead, names) ||
  lead.some((one) => one.isAsserted && statesCue(one, observationCue) && statesCue(one, malwareCues)) ||
  mentionsCve(lead);

const declaresGuide = (report: KindInput): boolean =>
  report.lead.slice(0, headingReach).some(({ full }) => guideDeclaration.test(full)) && !reportsThreat(report);

/** Returns whether a heading asks what a term means before the text reports an attack. */
function explainsTerm(lead: Statement[]): boolean {
  const heading = lead.slice(0, headingReach).findIndex(({ full }) => definitionHeading.test(full.trim()));
  const reportsAttack = (one: Statement): boolean =>
    one.isAsserted && (isExploitation(one) || (one.isTitle && isActivity(one) && isThreat(one)));
  return heading >= 0 && !cveId.test(titleOf(lead)) && !lead.slice(0, heading).some(reportsAttack);
}

/** Returns whether a text says more about products or security in general than about what happened. */
function isPromotion(report: KindInput): boolean {
  const { lead, indicators, sourceUrl } = report;
  const promoted = lead.filter(({ text }) => promotionCues.test(text)).length;
  return (
    promoted >= 2 &&
    promoted > lead.filter(isReportedActivity).length &&
    indicators < 3 &&
    !isDigest(titleOf(lead), sourceUrl) &&
    !reportsThreat(report)
  );
}
