export type Span = { start: number; end: number };

/** The text of a structured record, one field a line, and the passages of it that prove what is claimed. */
export type StoredText = {
  /** Appends `name: value`; answers where the value stands, or undefined for an empty one. */
  field: (name: string, value: unknown) => Span | undefined;
  /** Makes a span a supporting passage, once; answers its `evidenceRef`. */
  prove: (span: Span) => string;
  text: () => string;
  passages: () => Span[];
};

const passageMaxChars = 1_000;

/** Collects a record's text. Spans are UTF-16 units, end exclusive, never empty. */
export function createStoredText(): StoredText {
  const lines: string[] = [];
  const passages: Span[] = [];
  let length = 0;
  return {
    field(name, value) {
      const rendered = wellFormed(render(value));
      const line = `${wellFormed(name)}: ${rendered}`;
      const start = length + (line.length - rendered.length);
      lines.push(line);
      length += line.length + 1;
      return rendered.trim() === '' ? undefined : { start, end: start + rendered.length };
    },
    prove(span) {
      const known = passages.findIndex((passage) => passage.start === span.start);
      if (known >= 0) return evidenceRef(known);
      passages.push(shorten(span, lines.join('\n')));
      return evidenceRef(passages.length - 1);
    },
    text: () => lines.join('\n'),
    passages: () => passages,
  };
}

const evidenceRef = (index: number): string => `provenance.supportingPassages[${index}]`;

function shorten(span: Span, text: string): Span {
  if (span.end - span.start <= passageMaxChars) return span;
  const end = span.start + passageMaxChars;
  // A cut between the halves of a pair would leave text that is not well formed.
  const splitsPair = /[\uD800-\uDBFF]/.test(text[end - 1] ?? '');
  return { start: span.start, end: splitsPair ? end - 1 : end };
}

function render(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value) && value.every((part) => typeof part !== 'object')) return value.map(String).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** PostgreSQL holds neither U+0000 nor lone surrogates. */
export const wellFormed = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\uFFFD');
