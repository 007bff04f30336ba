import { fieldToWords } from './text.ts';

/** A piece of an excerpt in which a search found something. */
export type ExcerptSegment = { text: string; isMatch: boolean };

const leadMax = 32;
/** A line of a structured record, whose text has a field per line: `vendorProject: Northmere`. */
const fieldLine = /^([A-Za-z_][\w.]{0,60}): (?<value>[^]*)$/;
const nextField = /\n[A-Za-z_][\w.]{0,60}: /;

const plain = (text: string): ExcerptSegment => ({ text, isMatch: false });

/**
 * Cuts what comes long before the first match, so that one line shows the match. Cuts at a space where one is near. Of a structured record
 * it keeps the field that matches, with its name in words.
 */
export function startNearMatch(segments: readonly ExcerptSegment[]): ExcerptSegment[] {
  const first = Math.max(
    0,
    segments.findIndex(({ isMatch }) => isMatch),
  );
  const lead = segments
    .slice(0, first)
    .map(({ text }) => text)
    .join('');
  const rest = segments.slice(first);
  const field = fieldLine.exec(lead.slice(lead.lastIndexOf('\n') + 1));
  if (field) return [plain(`${fieldToWords(field[1]!)}: ${shortenLead(field.groups!['value']!)}`), ...endAtField(rest)];
  return markCut(lead.length <= leadMax ? segments : [plain(shortenLead(lead)), ...rest]);
}

/** Adds an ellipsis where a passage ends within a sentence. */
const markCut = (segments: readonly ExcerptSegment[]): ExcerptSegment[] =>
  /[.!?…。！？]["'”’)\]]*\s*$/.test(segments.at(-1)?.text ?? '.') ? [...segments] : [...segments, plain(' …')];

function shortenLead(lead: string): string {
  if (lead.length <= leadMax) return lead;
  const near = lead.slice(-leadMax);
  return `… ${near.slice(near.indexOf(' ') + 1)}`;
}

/** Returns the segments up to where the next field begins. */
function endAtField(segments: readonly ExcerptSegment[]): ExcerptSegment[] {
  const last = segments.findIndex(({ text }) => nextField.test(text));
  if (last === -1) return [...segments];
  const { text, isMatch } = segments[last]!;
  return [...segments.slice(0, last), { text: text.split(nextField)[0]!, isMatch }];
}

/**
 * Shortens a text to about `max` characters around a span of it, or from its beginning. Cuts at spaces where there are some, and marks with
 * an ellipsis what is left out.
 */
export function excerptAround(text: string, span: { start: number; end: number } | undefined, max: number): string {
  if (text.length <= max) return text;
  const middle = span ? (span.start + span.end) / 2 : 0;
  const start = Math.max(0, Math.min(Math.round(middle - max / 2), text.length - max));
  const end = start + max;
  const excerpt = text
    .slice(start, end)
    .replace(start > 0 ? /^\S*\s/ : /^/, '')
    .replace(end < text.length ? /\s\S*$/ : /$/, '');
  return `${start > 0 ? '… ' : ''}${excerpt}${end < text.length ? ' …' : ''}`;
}
