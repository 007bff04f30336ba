import { toStorableText } from '../../../platform/lib/text/storable-text.ts';

export type Span = { start: number; end: number };

/** Builds the text of a structured record, one field per line, with its supporting passages. */
export type StoredText = {
  /**
   * Appends every scalar of a JSON value with its path (`a.b[0].c: value`). Lists of scalars take one line. Returns the spans by path, of all
   * paths or of those in `spansOf`.
   */
  addFields: (value: object, options?: FieldOptions) => Map<string, Span>;
  /** Adds a span as a supporting passage, cut to `maxChars` (default 1,000). Returns its `evidenceRef`. */
  addPassage: (span: Span, maxChars?: number) => string;
  text: () => string;
  passages: () => Span[];
};

/** Returning the spans of a few paths alone halves the time. */
type FieldOptions = { prefix?: string; leaveOut?: (path: string) => boolean; spansOf?: string[] };

const passageMaxChars = 1_000;
const depthMax = 40;
/** The maximum length of an escaped indicator value, which a passage contains as a whole. */
export const valueMaxChars = 20_000;

/** Spans are UTF-16 units, end exclusive, never empty. */
export function createStoredText(): StoredText {
  const lines: string[] = [];
  const passages: Span[] = [];
  const byStart = new Map<number, number>();
  let length = 0;
  /** Returns the rendered value, which ends at the end of the text. */
  const addField = (name: string, value: unknown): string => {
    const rendered = render(value);
    lines.push(`${name}: ${rendered}`);
    length += name.length + ': '.length + rendered.length + '\n'.length;
    return rendered;
  };
  // Replaces characters by others of the same length, so that the spans stay.
  const joinLines = (): string => toStorableText(lines.join('\n'));
  return {
    addFields(value, { prefix = '', leaveOut, spansOf } = {}) {
      const spans = new Map<string, Span>();
      const walk = (part: unknown, path: string, depth: number): void => {
        if (leaveOut?.(path)) return;
        if (!isNested(part)) {
          const rendered = addField(path, part);
          if ((spansOf && !spansOf.includes(path)) || rendered.trim() === '') return;
          const end = length - '\n'.length;
          spans.set(path, { start: end - rendered.length, end });
        } else if (depth >= depthMax) {
          addField(path, '(nested too deep to be stored)');
        } else if (Array.isArray(part)) {
          for (const [index, one] of part.entries()) walk(one, `${path}[${index}]`, depth + 1);
        } else {
          const object = part as Record<string, unknown>;
          // Object.entries would create an array for each field.
          for (const name of Object.keys(object)) walk(object[name], path === '' ? name : `${path}.${name}`, depth + 1);
        }
      };
      walk(value, prefix, 0);
      return spans;
    },
    addPassage(span, maxChars = passageMaxChars) {
      const known = byStart.get(span.start);
      if (known !== undefined && passages[known]!.end >= Math.min(span.end, span.start + maxChars))
        return evidenceRef(known);
      byStart.set(span.start, passages.length);
      passages.push(span.end - span.start <= maxChars ? span : shorten(span, maxChars, joinLines()));
      return evidenceRef(passages.length - 1);
    },
    text: joinLines,
    passages: () => passages,
  };
}

const evidenceRef = (index: number): string => `provenance.supportingPassages[${index}]`;

/** Returns whether a value needs more than one line. */
const isNested = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !(Array.isArray(value) && value.every((part) => typeof part !== 'object' || part === null));

function shorten(span: Span, maxChars: number, text: string): Span {
  const end = span.start + maxChars;
  // Do not split a surrogate pair.
  const splitsPair = /[\uD800-\uDBFF]/.test(text[end - 1] ?? '');
  return { start: span.start, end: splitsPair ? end - 1 : end };
}

function render(value: unknown): string {
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.map((part) => String(part ?? '')).join(', ') : String(value);
}
