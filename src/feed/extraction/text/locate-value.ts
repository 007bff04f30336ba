import type { Span } from './stored-text.ts';

const lineMaxChars = 400;

/**
 * Finds a value within a range of a text, verbatim or escaped as in STIX patterns and JSON. Returns the span of its line, or of the
 * value alone if the line is longer than 400 characters. Returns undefined if the range does not contain the value.
 */
export function locateValue(text: string, range: Span, value: string): Span | undefined {
  const wanted = value.trim();
  if (wanted === '') return undefined;
  const searched = text.slice(range.start, range.end);
  for (const toForm of forms) {
    const form = toForm(wanted);
    const start = searched.indexOf(form);
    if (start >= 0) return extendToLine(text, { start: range.start + start, end: range.start + start + form.length });
  }
  return undefined;
}

/** The notations of a value: verbatim, in a STIX pattern, and in JSON. */
const forms = [
  (value: string): string => value,
  (value: string): string => value.replaceAll(/[\\']/g, String.raw`\$&`),
  (value: string): string => value.replaceAll(/[\\"]/g, String.raw`\$&`),
];

function extendToLine(text: string, span: Span): Span {
  const start = text.lastIndexOf('\n', span.start - 1) + 1;
  const lineEnd = text.indexOf('\n', span.end);
  const end = lineEnd < 0 ? text.length : lineEnd;
  return end - start <= lineMaxChars ? { start, end } : span;
}
