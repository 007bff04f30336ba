import type { AdviceAction, Severity, ValueRole } from '../../model/vocabulary.ts';
import type { ExtractedIndicator, OtherObservable } from '../indicators/extract-indicators.ts';
import type { NameKind } from '../names/dictionary/name-dictionary.ts';
import type { Sentence } from '../text/sentence-spans.ts';
import type { Span } from '../text/stored-text.ts';

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
  /** Advice that the report gives its readers. */
  | { field: 'advice'; value: string; action: AdviceAction }
  | { field: 'summary'; value: string }
  | { field: 'tldr'; value: string }
  | { field: 'step'; value: string };

/** A statement with the passage that says so. `confidence` is 0 to 1. */
export type Claim = Statement & { quote: Quote; confidence: number; reason?: string };
export type ClaimOf<F extends Claim['field']> = Extract<Claim, { field: F }>;

/** Finds an opened quotation at the end of the words before a statement: what follows is not the publisher's own statement. */
export const quotedBefore = /[“„«"](?:[^”"»]*)$/;

/** Returns the text of a quote. It is empty if the quote has no place in the document. */
export const textOfQuote = ({ text, title }: Pick<ReadDocument, 'text' | 'title'>, quote: Quote): string =>
  (quote.in === 'title' ? title : text).slice(quote.start, quote.end);

/** Returns the claims about a field. */
export const claimsOf = <F extends Claim['field']>(claims: readonly Claim[], field: F): ClaimOf<F>[] =>
  claims.filter((claim): claim is ClaimOf<F> => claim.field === field);
