import { emptyIocs } from '../../model/source-record.ts';
import { ttlDays } from '../../model/expiry.ts';
import type { Advice, AffectedProduct, Classification, Footnote, Indicator, Iocs } from '../../model/item.schema.ts';
import { toComparisonForm } from '../../model/values/normalize.ts';
import { indicatorTypes } from '../../model/values/indicator-types.ts';
import type { Severity } from '../../model/vocabulary.ts';
import { findTechnique, type Technique } from '../../reference-data/attack.ts';
import { toAttackEntry } from '../classification-builder.ts';
import { classifyReport } from '../classify-report.ts';
import { spansMax, type ExtractedName } from '../names/extracted-name.ts';
import { createPassageCollector } from '../text/passage-collector.ts';
import type { Span } from '../text/stored-text.ts';
import { type Claim, claimsOf, type ClaimOf, type KnownValues } from './claim.ts';

/** The fields of an item that readers decide, with the passages that say so. */
export type ItemFields = {
  severity: Severity;
  severityRule: string;
  /** References to the passages that decided the severity. */
  severityEvidence: string[];
  summary?: string;
  tldr?: string;
  attackPath: string[];
  /** Advice that the report gives its readers. */
  advice?: Advice[];
  /** The passages of sentences that a reader wrote in its own words. */
  footnotes?: Footnote[];
  classification: Classification;
  affectedProducts: AffectedProduct[];
  iocs: Iocs;
  passages: Span[];
  /** Whether the publisher withdraws the report. */
  withdrawn: boolean;
};

/** Fields whose passages have no reference to them in the item. */
const citedFields = new Set<Claim['field']>(['product', 'role', 'family', 'status']);

const summaryMax = 5;
const stepsMax = 20;
const adviceMax = 12;

/** Turns claims that check out into the fields of an item. */
export function buildItem(storedText: string, known: KnownValues, claims: readonly Claim[]): ItemFields {
  const techniques = collectTechniques(claims);
  const names = collectNames(claims);
  const products = claimsOf(claims, 'product');
  const severity = claimsOf(claims, 'severity');
  const passages = createPassageCollector(storedText);
  const cite = (claim: Claim): string[] => (claim.quote.in === 'title' ? [] : [passages.add(claim.quote)]);
  const attack = techniques.map(({ technique, claim }) =>
    toAttackEntry({ technique, confidence: claim.confidence, evidenceRef: passages.add(claim.quote) }),
  );
  const sentences = collectSentences(claims);
  const footnotes = [...sentences.summary, ...sentences.tldr, ...sentences.step].flatMap((claim): Footnote[] =>
    cite(claim).flatMap((evidenceRef) =>
      isExtracted(storedText, claim)
        ? []
        : [{ field: claim.field === 'step' ? 'attackPath' : claim.field, text: claim.value, evidenceRef }],
    ),
  );
  const advice = sentences.advice.flatMap((claim) =>
    cite(claim).map((evidenceRef) => ({ action: claim.action, text: claim.value, evidenceRef })),
  );
  const severityEvidence = severity.flatMap(cite);
  const firstMentions = [...known.indicators, ...known.others, ...names].flatMap(({ spans }) => spans.slice(0, 1));
  const others = claims.filter(({ field }) => citedFields.has(field));
  passages.cover([...firstMentions, ...others.flatMap(({ quote }) => (quote.in ? [] : [quote]))]);
  const iocs = groupIndicators(known, claims);
  return {
    severity: severity[0]?.value ?? 'none',
    severityRule: severity[0]?.rule ?? 'none',
    severityEvidence,
    ...joinSummary(sentences),
    attackPath: sentences.step.map(({ value }) => value),
    ...(advice.length > 0 ? { advice } : {}),
    ...(footnotes.length > 0 ? { footnotes } : {}),
    classification: classifyReport(storedText, { ...known, techniques, names, products }, { attack, iocs }),
    affectedProducts: products.map(({ vendor, value: product, versions, confidence }) => ({
      vendor,
      product,
      versions,
      confidence,
    })),
    iocs,
    passages: passages.list(),
    withdrawn: claimsOf(claims, 'status').length > 0,
  };
}

type StatedTechnique = { technique: Technique; confidence: number; claim: ClaimOf<'technique'> };

/** Returns the techniques, each with its first claim. */
function collectTechniques(claims: readonly Claim[]): StatedTechnique[] {
  const found = new Map<string, StatedTechnique>();
  for (const claim of claimsOf(claims, 'technique')) {
    const technique = findTechnique(claim.value);
    if (technique && claim.quote.in !== 'title' && !found.has(technique.id))
      found.set(technique.id, { technique, confidence: claim.confidence, claim });
  }
  return [...found.values()];
}

/** Joins the claims about one name. */
function collectNames(claims: readonly Claim[]): ExtractedName[] {
  const found = new Map<string, ExtractedName>();
  for (const { kind, value: name, aliases, printed, confidence, ambiguous, quote } of claimsOf(claims, 'name')) {
    if (kind === 'none') continue;
    const key = `${kind}\n${name}`;
    const known = found.get(key) ?? {
      kind,
      name,
      aliases,
      confidence,
      printed: [],
      spans: [],
      ...(ambiguous ? { ambiguous } : {}),
    };
    known.confidence = Math.max(known.confidence, confidence);
    known.printed = [...new Set([...known.printed, ...printed])];
    if (known.spans.length < spansMax && quote.in !== 'title') known.spans.push(quote);
    found.set(key, known);
  }
  return [...found.values()];
}

type SentenceField = 'summary' | 'tldr' | 'step' | 'advice';

/** Returns the sentences of an item, each text once per field. */
function collectSentences(claims: readonly Claim[]): { [F in SentenceField]: ClaimOf<F>[] } {
  const collect = <F extends SentenceField>(field: F, max: number): ClaimOf<F>[] =>
    [...new Map(claimsOf(claims, field).map((claim) => [(claim as Claim).value, claim])).values()].slice(0, max);
  return {
    summary: collect('summary', summaryMax),
    tldr: collect('tldr', 1),
    step: collect('step', stepsMax),
    advice: collect('advice', adviceMax),
  };
}

/** Returns whether a sentence is its passage itself. */
const isExtracted = (storedText: string, { value, quote }: Claim): boolean =>
  storedText.slice(quote.start, quote.end).replaceAll(/\s+/g, ' ') === value;

function joinSummary({
  summary,
  tldr: [tldr],
}: ReturnType<typeof collectSentences>): Pick<ItemFields, 'summary' | 'tldr'> {
  return {
    ...(summary.length > 0 ? { summary: summary.map(({ value }) => value).join(' ') } : {}),
    ...(tldr ? { tldr: tldr.value } : {}),
  };
}

function groupIndicators({ indicators }: KnownValues, claims: readonly Claim[]): Iocs {
  const iocs = emptyIocs();
  const stated = describeValues(claims);
  for (const { type, value, normalizedValue, status, confidence, role } of indicators) {
    const { role: claimed, ...names } = stated.get(toComparisonForm(normalizedValue)) ?? {};
    // A list of harmless values decides without a role.
    const decisive = status === 'false_positive' ? role : claimed;
    iocs[indicatorTypes[type].bucket].push({
      type,
      value,
      status,
      confidence,
      normalizedValue,
      ttlDays: ttlDays(type, {}),
      ...(decisive ? { role: decisive } : {}),
      ...names,
    });
  }
  return iocs;
}

type ValueDescription = Pick<Indicator, 'role' | 'malware' | 'actor'>;

/** Returns what readers say about single values, by their comparison form. The first role of a value counts. */
function describeValues(claims: readonly Claim[]): Map<string, ValueDescription> {
  const stated = new Map<string, ValueDescription>();
  const describe = (value: string): ValueDescription => {
    const form = toComparisonForm(value);
    const known = stated.get(form) ?? {};
    stated.set(form, known);
    return known;
  };
  for (const { value, role } of claimsOf(claims, 'role')) describe(value).role ??= role;
  for (const { value, kind, name } of claimsOf(claims, 'family')) {
    const description = describe(value);
    description[kind] = [...new Set([...(description[kind] ?? []), name])];
  }
  return stated;
}
