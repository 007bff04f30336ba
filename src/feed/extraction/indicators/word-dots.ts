import { isTopLevel } from './readers/domain-names.ts';

const spelledDot = / (?:dot|DOT|Dot|\.) /g;
// How many characters of a host are read on either side of the dot.
const reach = 100;

const labelsBehind = /^(?:[a-z0-9-]{1,63}(?: dot | \. |\.)){0,4}[a-z0-9-]{2,63}(?![\w-])/i;
const lineStart = /(?:^|[\n|\t`])[ >*+•-]{0,8}$/;
const lineEnd = /^[ .,;]{0,3}(?:$|[\n|\t`])/;
const scheme = /:\/\/$/;
const hostCue =
  /\b(?:domains?|(?:web)?sites?|urls?|hosts?|hostnames?|servers?|c2|c&c|address(?:es)?|links?|pages?|called|named|visit(?:s|ed|ing)?)[ :,"'“(]{1,3}$/i;
/** Words of prose that are not the first label of a host, and those that are also top-level domains. */
const prose = new Set(
  'the a an this that these and or of in at to from for with by on as is it be so me us my no am do id'.split(' '),
);

/**
 * Finds dots that are written as a word or between spaces: `evil dot top`, `evil . top`. The last label must be a top-level domain. The text
 * must also show that it means a host: by a scheme, a digit or hyphen in the name, a word such as `domain` before it, `DOT` between lowercase
 * letters, or a line of its own.
 */
export function findWordDots(text: string): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
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
  const behind = labelsBehind.exec(text.slice(end, end + reach))?.[0];
  const before = behind === undefined ? '' : readLabelsBefore(text, index);
  if (behind === undefined || before === '') return false;
  // The next sentence starts here.
  if (printed === ' . ' && /^[A-Z]/.test(behind)) return false;
  const labels = `${before}.${behind}`.toLowerCase().split(/ dot | \. |\./);
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

const labelsMax = 5;

/** Returns the labels that end at an offset, with the dots between them, or '' if there are none or they belong to a mail address. */
function readLabelsBefore(text: string, end: number): string {
  let start = end;
  for (let labels = 0; labels < labelsMax; labels += 1) {
    let at = start;
    while (start - at < reach && isLabelChar(text.charCodeAt(at - 1))) at -= 1;
    if (at === start) return '';
    start = at;
    const spelled = / (?:dot|\.) $/i.exec(text.slice(Math.max(0, at - 5), at))?.[0];
    if (spelled === undefined || !isLabelChar(text.charCodeAt(at - spelled.length - 1))) break;
    start -= spelled.length;
  }
  return /[\w.@]/.test(text[start - 1] ?? ' ') ? '' : text.slice(start, end);
}

const isLabelChar = (code: number): boolean =>
  (code >= 48 && code <= 57) ||
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  code === 0x2d ||
  code === 0x2e;
