import { coversPages } from './benign-values.ts';
import type { ValueContext } from './value-context.ts';
import type { ValueRole } from '../../../model/vocabulary.ts';
import {
  indicatorTypes,
  isIndicatorType,
  isNetworkType,
  type IndicatorType,
} from '../../../model/values/indicator-types.ts';
import type { IndicatorCandidate } from '../indicator-candidate.ts';

/** The evidence from the context of a candidate. */
export type CandidateEvidence = {
  context: ValueContext;
  defanged: boolean;
  /** The number of defanged values in the text. If there are several, a live address in prose is probably a reference. */
  defangedInText: number;
  isPublisherHost: boolean;
  /** Whether the value is a URL with a path. */
  isPage: boolean;
  /** How much the word before the value says that it is a host. */
  hostCue: 0 | 1 | 2;
  /** Returns the reason why the words around the value say that it is harmless. Called only if nothing else decides, because it takes the most time. */
  findMention: () => string | undefined;
  benign: string | undefined;
  /** A page of the kind that reports link to. */
  page:
    | 'page about another host'
    | 'source code on shared hosting'
    | 'page of an article'
    | 'dated page of an article'
    | 'analysis of a sample'
    | undefined;
};

/** `role` is set if the words around the value make it harmless. A value that a list of harmless values contains has none. */
export type CandidateAssessment = {
  status: 'active' | 'false_positive';
  confidence: number;
  reasons: string[];
  role?: ValueRole;
};

/** The roles of values that are harmless for a reason in the text. Those of other reasons are references. */
const roleByReason: Record<string, ValueRole> = {
  'victim or imitated original': 'victim',
  'in a section of legitimate values': 'legitimate',
  'hosting provider': 'legitimate',
  'service that a program uses': 'legitimate',
};

const doubtMax = 1.25;
const hostsHeading = /^(?!.*\bfiles?)(?=.*\b(?:domains?|hosts?|hostnames?)\b)/i;
const repositoriesHeading = /\b(?:repositor(?:y|ies)|repos|accounts?|github|gitlab|bitbucket)\b/i;
const manyDefanged = 3;
/** From this number of defanged values on, a live article in a list of indicators is a reference. */
const someDefanged = 2;

/**
 * Assesses a candidate. Returns undefined if it is not an indicator. Confidence is 0 to 1. Benign values, publisher hosts and link
 * targets become false positives with a reason. `formDoubt` is the evidence in the form of the value against its type.
 */
export function assessCandidate(
  type: string,
  formDoubt: number,
  evidence: CandidateEvidence,
): CandidateAssessment | undefined {
  const { context, defanged } = evidence;
  const listed = context.section === 'indicators';
  let doubt = formDoubt - (defanged ? 3 : 0) - (context.isolated ? 0.3 : 0);
  if (listed) doubt -= context.isolated ? 1 : 0.25;
  doubt -= evidence.hostCue;
  // `tool.app` is a file unless it is in a list of domains.
  if (doubt >= doubtMax && type === 'domain' && context.isolated && hostsHeading.test(context.heading)) doubt -= 2;
  if (doubt >= doubtMax) return undefined;
  if (context.section === 'references' && !defanged && isNetworkType(type)) return undefined;
  const reasons: string[] = [];
  let score = getBaseScore(type) - Math.max(0, doubt) * 0.15;
  const add = (weight: number, reason: string): void => {
    score += weight;
    reasons.push(reason);
  };
  if (defanged) add(0.3, 'printed defanged');
  if (listed) add(0.15, 'in a section of indicators');
  if (context.isolated) add(0.1, 'alone in its line or cell');
  if (context.section === 'legitimate') add(-0.25, 'in a section of legitimate values');
  if (isNetworkType(type) && !defanged) {
    if (context.linked) add(-0.4, 'target of a link');
    else if (type === 'url' && !context.isolated && !listed) add(-0.2, 'live address in prose');
    if (evidence.defangedInText >= manyDefanged && !context.isolated && !listed)
      add(-0.2, 'others in the text are defanged');
  }
  const harmless = findFalsePositiveReason(type, evidence, score);
  if (harmless)
    return {
      status: 'false_positive',
      confidence: Math.min(0.1, clamp(score)),
      reasons: [harmless, ...reasons.filter((reason) => reason !== harmless)],
      ...(harmless === evidence.benign ? {} : { role: roleByReason[harmless] ?? 'reference' }),
    };
  return { status: 'active', confidence: clamp(score), reasons };
}

function findFalsePositiveReason(type: string, evidence: CandidateEvidence, score: number): string | undefined {
  const { context, defanged, isPublisherHost: ofPublisher, findMention, benign, page } = evidence;
  if (ofPublisher && !defanged) return 'link to the publisher';
  // A defanged page on a well-known host is reported on purpose.
  const isReported = evidence.isPage && defanged && benign !== undefined && !coversPages(benign);
  if (benign && !isReported) return benign;
  const mention = findMention();
  if (mention) return mention;
  // Pages on services that attackers abuse are theirs.
  const isHost = type === 'domain' && context.isolated;
  if (context.section === 'legitimate' && (!defanged || isHost)) return 'in a section of legitimate values';
  if (!isNetworkType(type)) return undefined;
  const isListed = context.isolated && context.section === 'indicators';
  const isException = evidence.defangedInText >= someDefanged;
  const isListedPage =
    isListed &&
    ((page === 'page of an article' && !isException) ||
      (page === 'source code on shared hosting' && repositoriesHeading.test(context.heading)));
  if (page && !defanged && !isListedPage) return page;
  if (context.linked && !defanged) return 'target of a link';
  return score < 0.25 ? 'too little evidence' : undefined;
}

const getBaseScore = (type: string): number => (isIndicatorType(type) ? indicatorTypes[type].proseScore : 0.55);

const clamp = (score: number): number => Math.round(Math.min(0.99, Math.max(0.05, score)) * 100) / 100;

const reach = 60;

/** Refines a type by the words around the value: a hash may be an import hash or a certificate hash, a file may be a process. */
export function refineType(
  text: string,
  candidate: IndicatorCandidate,
  context: ValueContext,
): IndicatorType | undefined {
  const { type, start } = candidate;
  if (type === 'file_name')
    return /process/i.test(context.heading) && processesHeading.test(context.heading) ? 'process_name' : type;
  const before = text.slice(Math.max(0, start - reach), start);
  const lineBefore = before.slice(before.lastIndexOf('\n') + 1);
  // Most hashes are at the start of a line, so there is no text to check.
  switch (type) {
    case 'md5':
      return /\bimphash\b/i.test(lineBefore) || /\bimphash\b/i.test(context.heading) ? 'imphash' : type;
    case 'sha1':
    case 'sha256':
      return lineBefore.length > 6 && certificateCue.test(lineBefore) ? `cert_${type}` : type;
    case 'android_package': {
      const near = `${context.heading} ${lineBefore}`;
      if (/\bbundle\b|\bios\b/i.test(near)) return 'ios_bundle';
      return /\b(?:package|packages|apk|android)\b/i.test(near) ? type : undefined;
    }
    default:
      return type as IndicatorType;
  }
}

const processesHeading = /\bprocess(?:es)?(?: names?)?\s*:?$/i;
const certificateCue = /\b(?:thumbprint|certificate|cert fingerprint)\b/i;
