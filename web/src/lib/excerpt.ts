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
  return lead.length <= leadMax ? [...segments] : [plain(shortenLead(lead)), ...rest];
}

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
