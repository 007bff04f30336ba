export type Span = { start: number; end: number };

/** The text of a structured record, one field a line, and the passages of it that prove what is claimed. */
export type StoredText = {
  /** Appends every scalar of a JSON value under its path (`a.b[0].c: value`), in its own order; lists of scalars are one line. */
  addFields: (value: object, options?: { prefix?: string; leaveOut?: (path: string) => boolean }) => Map<string, Span>;
  /** Makes a span a supporting passage, once, cut where it is longer than `maxChars` (1,000); answers its `evidenceRef`. */
  addPassage: (span: Span, maxChars?: number) => string;
  text: () => string;
  passages: () => Span[];
};

const passageMaxChars = 1_000;
const depthMax = 40;
/** A passage that shows an indicator shows all of it; a value may be as long as this, escaped. */
export const valueMaxChars = 20_000;

/** Collects a record's text. Spans are UTF-16 units, end exclusive, never empty. */
export function createStoredText(): StoredText {
  const lines: string[] = [];
  const passages: Span[] = [];
  const byStart = new Map<number, number>();
  let length = 0;
  const field = (name: string, value: unknown): Span | undefined => {
    const rendered = toStorableText(render(value));
    const line = `${toStorableText(name)}: ${rendered}`;
    const start = length + (line.length - rendered.length);
    lines.push(line);
    length += line.length + 1;
    return rendered.trim() === '' ? undefined : { start, end: start + rendered.length };
  };
  return {
    addFields(value, { prefix = '', leaveOut } = {}) {
      const spans = new Map<string, Span>();
      const walk = (part: unknown, path: string, depth: number): void => {
        if (leaveOut?.(path)) return;
        if (!isNested(part)) {
          const span = field(path, part);
          if (span) spans.set(path, span);
        } else if (depth >= depthMax) {
          field(path, '(nested too deep to be kept)');
        } else if (Array.isArray(part)) {
          for (const [index, one] of part.entries()) walk(one, `${path}[${index}]`, depth + 1);
        } else {
          for (const [name, one] of Object.entries(part as object))
            walk(one, path === '' ? name : `${path}.${name}`, depth + 1);
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
      passages.push(span.end - span.start <= maxChars ? span : shorten(span, maxChars, lines.join('\n')));
      return evidenceRef(passages.length - 1);
    },
    text: () => lines.join('\n'),
    passages: () => passages,
  };
}

const evidenceRef = (index: number): string => `provenance.supportingPassages[${index}]`;

/** Something that takes more than a line. */
const isNested = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !(Array.isArray(value) && value.every((part) => typeof part !== 'object' || part === null));

function shorten(span: Span, maxChars: number, text: string): Span {
  const end = span.start + maxChars;
  // A cut between the halves of a pair would leave text that is not well formed.
  const splitsPair = /[\uD800-\uDBFF]/.test(text[end - 1] ?? '');
  return { start: span.start, end: splitsPair ? end - 1 : end };
}

function render(value: unknown): string {
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.map((part) => String(part ?? '')).join(', ') : String(value);
}

/** PostgreSQL holds neither U+0000 nor lone surrogates. */
export const toStorableText = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\uFFFD');
