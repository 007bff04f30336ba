import { isTopLevel } from '../indicators/readers/domain-names.ts';

const spellings = [' dot ', ' DOT ', ' Dot '];
const spelledDot = / (?:dot|DOT|Dot) /g;
// The longest host that is looked at on either side.
const reach = 100;

const labelsBefore = /(?:^|[^\w.@-])((?:[a-z0-9-]{1,63}(?: dot |\.)){0,4}[a-z0-9-]{1,63})$/i;
const labelsBehind = /^(?:[a-z0-9-]{1,63}(?: dot |\.)){0,4}[a-z0-9-]{2,63}(?![\w-])/i;
const lineStart = /(?:^|[\n|\t`])[ >*+•-]{0,8}$/;
const lineEnd = /^[ .,;]{0,3}(?:$|[\n|\t`])/;
const scheme = /:\/\/$/;
const hostCue =
  /\b(?:domains?|(?:web)?sites?|urls?|hosts?|hostnames?|servers?|c2|c&c|address(?:es)?|links?|pages?|called|named|visit(?:s|ed|ing)?)[ :,"'“(]{1,3}$/i;
/** Words that are no first label, and words of prose that are top-level domains. */
const prose = new Set(
  'the a an this that these and or of in at to from for with by on as is it be so me us my no am do id'.split(' '),
);

/**
 * Finds the dots that a text spells as a word: `evil dot top`. The last label must be a top-level domain, and the text must show that it means
 * a host: a scheme, a digit or hyphen in the name, a word such as `domain` before it, `DOT` between small letters, or a line of its own.
 */
export function findWordDots(text: string): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  if (!spellings.some((spelling) => text.includes(spelling))) return found;
  spelledDot.lastIndex = 0;
  for (let match = spelledDot.exec(text); match; match = spelledDot.exec(text)) {
    // The next label may begin with the space that ends this one.
    spelledDot.lastIndex = match.index + match[0].length - 1;
    if (isHostDot(text, match)) found.push(match);
  }
  return found;
}

function isHostDot(text: string, { 0: printed, index }: RegExpExecArray): boolean {
  const end = index + printed.length;
  const before = labelsBefore.exec(text.slice(Math.max(0, index - reach), index))?.[1];
  const behind = labelsBehind.exec(text.slice(end, end + reach))?.[0];
  if (before === undefined || behind === undefined) return false;
  const labels = `${before}.${behind}`.toLowerCase().split(/ dot |\./);
  const last = labels.at(-1)!;
  if (!isTopLevel(last) || prose.has(labels[0]!)) return false;
  const start = index - before.length;
  const lead = text.slice(Math.max(0, start - 40), start);
  const rest = text.slice(end + behind.length, end + behind.length + 8);
  if (scheme.test(lead) || (lineStart.test(lead) && lineEnd.test(rest)) || rest.startsWith('/')) return true;
  if (prose.has(last)) return false;
  const isShouted = printed === ' DOT ' && /[a-z]/.test(before) && /[a-z]/.test(behind);
  return isShouted || /[\d-]/.test(labels.slice(0, -1).join('')) || hostCue.test(lead);
}
