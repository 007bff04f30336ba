import { adviceActions, severities, type Severity, valueRoles } from '../../model/vocabulary.ts';
import { plainName, resolveName } from '../names/dictionary/resolve-name.ts';
import type { NameDictionary } from '../names/dictionary/name-dictionary.ts';
import { refangText } from '../indicators/refang-text.ts';
import type { Span } from '../text/stored-text.ts';
import { containsName } from './check-claims.ts';
import { type Claim, type ClaimedKind, textOfQuote, type Quote, type ReadDocument } from './claim.ts';

/** The reasons of the rubric for a level. */
export const severityReasons = ['exploited-now', 'destructive', 'spread', 'sector', 'research', 'old'] as const;
export const claimFields = [
  'name',
  'technique',
  'product',
  'severity',
  'role',
  'family',
  'summary',
  'tldr',
  'step',
  'advice',
  'title',
] as const;
export const nameKinds = ['actor', 'malware', 'tool', 'none'] as const;

/** A claim as a model writes it: flat, so that small models can. What `kind` and `name` mean depends on the field. */
type WrittenClaim = { field: string; value: string; kind: string; name: string; quote: string; confidence: number };

const valueMaxChars = 400;
const quoteMaxChars = 1_000;
const claimsMax = 80;

/** What a model answered about a part of a document. */
export type PartAnswer = { part: Span; answer: { claims: unknown[] } };

/** The claims that a model wrote, with their places in the text, and how many of them have no usable form. */
export type ModelClaims = { claims: Claim[]; malformed: number };

/**
 * Reads the claims of a model about the parts of a document. A quote that is not in its part keeps no place, so that the check drops and counts
 * the claim.
 */
export function readModelClaims(
  answers: readonly PartAnswer[],
  document: ReadDocument,
  dictionary?: NameDictionary,
): ModelClaims {
  const claims = answers.flatMap(({ part, answer }) =>
    answer.claims.slice(0, claimsMax).flatMap((one) => {
      const claim = toWritten(one);
      return claim ? (readClaim(claim, document, part, dictionary) ?? []) : [];
    }),
  );
  const written = answers.reduce((sum, { answer }) => sum + answer.claims.length, 0);
  return { claims, malformed: written - claims.length };
}

function toWritten(value: unknown): WrittenClaim | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { field, value: stated, kind, name, quote, confidence } = value as Record<string, unknown>;
  const text = (part: unknown, max: number): string => (typeof part === 'string' ? part.trim().slice(0, max) : '');
  const claim = {
    field: text(field, 40),
    value: text(stated, valueMaxChars),
    kind: text(kind, 40).toLowerCase(),
    name: text(name, valueMaxChars),
    quote: text(quote, quoteMaxChars),
    confidence: toConfidence(confidence),
  };
  return claim.field === '' || claim.value === '' ? undefined : claim;
}

const usualConfidence = 0.7;

function toConfidence(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return usualConfidence;
  return Math.round(Math.min(1, value > 1 ? value / 100 : value) * 100) / 100;
}

function readClaim(
  { field, value, kind, name, quote: quoted, confidence }: WrittenClaim,
  document: ReadDocument,
  part: Span,
  dictionary: NameDictionary | undefined,
): Claim | undefined {
  const quote = findQuote(document, part, quoted);
  const base = { quote, confidence };
  switch (field) {
    case 'name': {
      if (!isOneOf(nameKinds, kind)) return undefined;
      const printedText = textOfQuote(document, quote);
      return { field, kind, ...toName(kind, value, printedText, dictionary), ...base };
    }
    case 'technique':
      return { field, value: value.toUpperCase(), isDone: kind !== 'not_done', ...base };
    case 'product':
      return { field, value, vendor: name || value, versions: [], ...base };
    case 'severity':
      return isOneOf(severities, value.toLowerCase())
        ? {
            field,
            value: value.toLowerCase() as Severity,
            rule: `model:${isOneOf(severityReasons, kind) ? kind : 'other'}`,
            ...base,
          }
        : undefined;
    case 'role':
      return isOneOf(valueRoles, kind) ? { field, value: refangText(value).clear, role: kind, ...base } : undefined;
    case 'family': {
      if (name === '' || (kind !== 'malware' && kind !== 'actor')) return undefined;
      const { value: family } = toName(kind, name, textOfQuote(document, quote), dictionary);
      return {
        field,
        value: refangText(value).clear,
        kind,
        name: containsName(textOfQuote(document, quote), family) ? family : name,
        ...base,
      };
    }
    case 'advice':
      return isOneOf(adviceActions, kind) ? { field, value, action: kind, ...base } : undefined;
    case 'title':
      return { field, value, quote: findTitle(document, quoted), confidence };
    case 'summary':
    case 'tldr':
    case 'step':
      return { field, value, ...base };
    default:
      return undefined;
  }
}

const isOneOf = <T extends string>(list: readonly T[], value: string): value is T => list.includes(value as T);

/** Returns the canonical form of a name, and the forms of it that stand in the quote. */
function toName(
  kind: ClaimedKind,
  stated: string,
  quoted: string,
  dictionary: NameDictionary | undefined,
): { value: string; aliases: string[]; printed: string[] } {
  const entity = kind === 'none' ? undefined : resolveName(kind, stated, { dictionary });
  const forms = [stated, ...(entity ? [entity.name, ...entity.aliases] : [])];
  return {
    value: entity?.name ?? plainName(stated),
    aliases: entity?.aliases ?? [],
    printed: [...new Set(forms)].filter((form) => containsName(quoted, form)),
  };
}

const nowhere: Quote = { start: -1, end: -1 };

/** Finds a quote in a part, or in the title. White space and the shape of quotation marks and dashes may differ. */
function findQuote({ text, title }: ReadDocument, part: Span, quoted: string): Quote {
  if (quoted === '') return nowhere;
  const exact = text.slice(part.start, part.end).indexOf(quoted);
  if (exact >= 0) return { start: part.start + exact, end: part.start + exact + quoted.length };
  const folded = foldText(quoted).folded.trim();
  if (folded === '') return nowhere;
  const found = findFolded(text.slice(part.start, part.end), folded);
  if (found) return { start: part.start + found.start, end: part.start + found.end };
  const inTitle = findFolded(title, folded);
  return inTitle ? { ...inTitle, in: 'title' } : nowhere;
}

/** Returns the whole title if that is what a model quoted. */
const findTitle = ({ title }: ReadDocument, quoted: string): Quote =>
  foldText(quoted).folded.trim() === foldText(title).folded.trim()
    ? { start: 0, end: title.length, in: 'title' }
    : nowhere;

function findFolded(text: string, wanted: string): Span | undefined {
  const { folded, origins } = foldText(text);
  const at = folded.indexOf(wanted);
  return at < 0 ? undefined : { start: origins[at]!, end: origins[at + wanted.length - 1]! + 1 };
}

const marks: Record<string, string> = {
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '‘': "'",
  '’': "'",
  '–': '-',
  '—': '-',
};

/** Folds white space and typographic marks. `origins` has the place of each unit of the folded text. */
function foldText(text: string): { folded: string; origins: number[] } {
  let folded = '';
  const origins: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    const isSpace = /\s/.test(char);
    if (isSpace && folded.endsWith(' ')) continue;
    folded += isSpace ? ' ' : (marks[char] ?? char);
    origins.push(at);
  }
  return { folded, origins };
}
