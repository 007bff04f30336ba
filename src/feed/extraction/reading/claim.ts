import { type AdviceAction, type Severity, type ValueRole, severities } from '../../model/vocabulary.ts';
import type { ExtractedIndicator, OtherObservable } from '../indicators/extract-indicators.ts';
import type { NameKind } from '../names/dictionary/name-dictionary.ts';
import type { Sentence } from '../text/sentence-spans.ts';
import type { Span } from '../text/stored-text.ts';
import { nameKey } from '../../reference-data/name-forms.ts';

/** The text of a report as readers get it. `article` is the text without the footer of its page, with its sentences. */
export type ReadDocument = {
  text: string;
  title: string;
  article: string;
  sentences: Sentence[];
  language: string | undefined;
  publisher: string | undefined;
  publishTime: string | undefined;
  sourceUrl: string | undefined;
};

/** The values that code extracted, each with its places in the text. */
export type KnownValues = { indicators: ExtractedIndicator[]; others: OtherObservable[] };

/** A passage of the text, or of the title where that is separate. UTF-16 units, end exclusive. */
export type Quote = Span & { in?: 'title' };

export const toQuote = ({ start, end }: Span): Quote => ({ start, end });

/** `none`: a company, person or thing that only has the same name. */
export type ClaimedKind = NameKind | 'none';

/**
 * What a reader says about one field of an item. `value` is the canonical name, the id of a technique, the level, a normalized value of the
 * text, or a sentence. `isDone` is false for a technique that the text only advises against, denies or imagines.
 */
type Statement =
  | {
      field: 'name';
      kind: ClaimedKind;
      value: string;
      aliases: string[];
      /** The forms in the text. */
      printed: string[];
      /** The possible actors, if several share this alias. */
      ambiguous?: string[];
    }
  | { field: 'technique'; value: string; isDone: boolean }
  | { field: 'product'; value: string; vendor: string; versions: string[] }
  | { field: 'severity'; value: Severity; rule: string }
  | { field: 'role'; value: string; role: ValueRole }
  /** `printed` is the form of the name in the text, if it differs. */
  | { field: 'family'; value: string; kind: 'malware' | 'actor'; name: string; printed?: string }
  /** The publisher withdraws the report. */
  | { field: 'status'; value: 'retracted' }
  /** The title in the language in which the reader writes. */
  | { field: 'title'; value: string }
  /** Advice that the report gives its readers. */
  | { field: 'advice'; value: string; action: AdviceAction }
  | { field: 'summary'; value: string }
  | { field: 'tldr'; value: string }
  | { field: 'step'; value: string };

/** A statement with the passage that says so. `confidence` is 0 to 1. */
export type Claim = Statement & { quote: Quote; confidence: number; reason?: string };
export type ClaimOf<F extends Claim['field']> = Extract<Claim, { field: F }>;

/** Finds an opened quotation at the end of the words before a statement: what follows is not the publisher's own statement. */
export const quotedBefore = /[“„«"「](?:[^”"»」]*)$/;

/** Returns the text of a quote. It is empty if the quote has no place in the document. */
export const textOfQuote = ({ text, title }: Pick<ReadDocument, 'text' | 'title'>, quote: Quote): string =>
  (quote.in === 'title' ? title : text).slice(quote.start, quote.end);

/** Returns the claims about a field. */
export const claimsOf = <F extends Claim['field']>(claims: readonly Claim[], field: F): ClaimOf<F>[] =>
  claims.filter((claim): claim is ClaimOf<F> => claim.field === field);

/**
 * Returns the claims that decide: those of a model and, where it says nothing, those of the lexicon. Where both differ, the model decides. Its
 * silence about a name or a technique contradicts nothing.
 */
export function mergeClaims(lexicon: readonly Claim[], model: readonly Claim[]): Claim[] {
  const contradicts = createContradiction(model);
  return [...lexicon.filter((claim) => !contradicts(claim)), ...chooseSeverity(model)].filter(isPositive);
}

/** Returns a function that returns whether the model's claims replace a claim of the lexicon. */
function createContradiction(model: readonly Claim[]): (claim: Claim) => boolean {
  const fields = new Set(model.map(({ field }) => field));
  const techniques = new Set(claimsOf(model, 'technique').map(({ value }) => value));
  const roles = new Set(claimsOf(model, 'role').map(({ value }) => value));
  const families = new Set(claimsOf(model, 'family').map(({ kind, value }) => `${kind} ${value}`));
  const kinds = new Map(claimsOf(model, 'name').flatMap((claim) => formsOf(claim).map((form) => [form, claim.kind])));
  return (claim) => {
    switch (claim.field) {
      case 'severity':
      case 'advice':
      case 'summary':
      case 'tldr':
      case 'step':
        return fields.has(claim.field);
      case 'technique':
        return techniques.has(claim.value);
      case 'role':
        return roles.has(claim.value);
      case 'family':
        return families.has(`${claim.kind} ${claim.value}`);
      case 'name':
        return formsOf(claim).some((form) => (kinds.get(form) ?? claim.kind) !== claim.kind);
      default:
        return false;
    }
  };
}

const formsOf = ({ value, printed }: ClaimOf<'name'>): string[] => [value, ...printed].map(nameKey);

/** Keeps the highest level of a model that read several sections. */
function chooseSeverity(claims: readonly Claim[]): Claim[] {
  const rank = ({ value }: ClaimOf<'severity'>): number => severities.indexOf(value);
  const highest = Math.max(...claimsOf(claims, 'severity').map(rank));
  return claims.filter((claim) => claim.field !== 'severity' || rank(claim) === highest);
}

/** A denial has no field of its own in an item: it only removes what the other reader says. */
const isPositive = (claim: Claim): boolean =>
  !(claim.field === 'name' && claim.kind === 'none') && !(claim.field === 'technique' && !claim.isDone);
