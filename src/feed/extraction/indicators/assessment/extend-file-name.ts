import type { IndicatorCandidate } from '../indicator-candidate.ts';
import { unspacedScripts } from '../readers/char-classes.ts';
import type { ValueContext } from './value-context.ts';

const nameMaxChars = 160;

/**
 * Extends a file name to the left over spaces and marks if something shows where it starts: quotation marks around it, a digest before it,
 * or the edge of its cell, code span or list line.
 */
export function extendFileName(text: string, candidate: IndicatorCandidate, context: ValueContext): IndicatorCandidate {
  const quoted = findQuotedName(text, candidate);
  if (quoted) return quoted;
  // Only a space or an apostrophe before the last word can continue the name.
  const last = text.charCodeAt(candidate.start - 1);
  if (last !== 0x20 && last !== 0x27) return candidate;
  return (
    findNameBehindDigest(text, candidate) ??
    findDelimitedName(text, candidate, context.section) ??
    findNamedFile(text, candidate) ??
    candidate
  );
}

/** Opening marks by closing mark. A mark that opens in one language closes in another: `“a”`, `„a“`, `„a”`, `«a»`, `»a«`. */
const openers: Record<string, string> = {
  '"': '"',
  "'": "'",
  '”': '“„”',
  '“': '„',
  '’': '‘‚',
  '‘': '‚',
  '»': '«',
  '«': '»',
  '」': '「',
  '』': '『',
  '》': '《',
  '】': '【',
  ')': '(',
  '）': '（',
};
const quotedWordsMax = 16;
const quotedName = /^[\p{L}\p{N}_~$#@][\p{L}\p{M}\p{N} .,()&'’+_#%@!~$–-]*$/u;
const unspaced = new RegExp(`[${unspacedScripts}]`);
/** Commands, requests and lists in quotation marks, which only contain the name of a file. */
const quotedStatement =
  /^(?:please|click|open|run|start|execute|download|install|sudo|rundll32|regsvr32|cmd|powershell|pwsh|wscript|cscript|mshta|msiexec|java|node|npx?|npm|deno|bun|php|perl|ruby|dotnet|python3?|bash|sh|curl|wget|cat|tail|chmod)\b/i;
const otherName = /\.(\w{2,11})(?:[,;]| (?:and|or|und|et|y|e|и|та|і)) /iu;

/** Extends a file name to the whole text in quotation marks. Parentheses count only for a name in a script without spaces, which has no small words. */
function findQuotedName(text: string, { start, end, ...rest }: IndicatorCandidate): IndicatorCandidate | undefined {
  // American typography puts a comma or period inside the quotation marks.
  const closer = /[.,]["”]/.test(text.slice(end, end + 2)) ? text[end + 1]! : (text[end] ?? '');
  const openMarks = openers[closer];
  if (openMarks === undefined || openMarks.includes(text[start - 1] ?? '')) return undefined;
  const isParenthesis = /[)）]/.test(closer);
  const isMark = (char: string): boolean => !isParenthesis && char in openers && !/[)’']/.test(char);
  let from = start - 1;
  for (const last = Math.max(-1, start - nameMaxChars); from > last && !openMarks.includes(text[from]!); from -= 1)
    if (text[from] === '\n' || isMark(text[from]!)) return undefined;
  const name = text.slice(from + 1, end);
  if (!openMarks.includes(text[from] ?? '') || from < 0 || !quotedName.test(name)) return undefined;
  if (isParenthesis && !unspaced.test(name)) return undefined;
  if (closer === "'" && /\w/.test(text[from - 1] ?? ' ')) return undefined;
  const isStatement = quotedStatement.test(name) || otherName.test(name) || name.split(' ').length > quotedWordsMax;
  return isStatement ? undefined : { ...rest, start: from + 1, end };
}

/** Extends a file name that starts at the edge of its cell, code span or list line. */
function findDelimitedName(
  text: string,
  candidate: IndicatorCandidate,
  section: ValueContext['section'],
): IndicatorCandidate | undefined {
  const closer = text[candidate.end] ?? '\n';
  if (!/[`|\t\n\r]/.test(closer) && !/^ +\|/.test(text.slice(candidate.end, candidate.end + 80))) return undefined;
  const from = Math.max(0, candidate.start - nameMaxChars);
  const before = text.slice(from, candidate.start);
  let edge = before.length - 1;
  while (edge >= 0 && !'`|\t\n'.includes(before[edge]!)) edge -= 1;
  if (edge < 0 && from > 0) return undefined;
  const opener = before[edge] ?? '';
  const inside = before.slice(edge + 1);
  const name = inside.trim();
  if (!/^[\w .,()'&+-]+$/.test(name) || !/\w/.test(name) || otherName.test(inside)) return undefined;
  const words = name.split(/\s+/).length;
  const isName =
    opener === '`'
      ? words <= 10
      : section === 'indicators' && words <= (opener === '|' ? 6 : 4) && !/^[-*]/.test(name) && !statement.test(inside);
  if (isName && !quotedStatement.test(name))
    return { ...candidate, start: candidate.start - inside.trimStart().length };
  const item = /^\s*[-*•] (?=(?:[A-Z\d][\w.,()'&+-]* ){1,4}$)/.exec(inside)?.[0];
  return item !== undefined && !statement.test(inside)
    ? { ...candidate, start: candidate.start - inside.length + item.length }
    : undefined;
}

const namedFile =
  /(?:\bfile ?name(?: is| was|:)?|\b(?:named|called|dubbed|titled|entitled|file|document|archive|attachment|app|installer|executable|spreadsheet|shortcut)) ((?:[A-Z\d][\w()&'-]{0,30} ){1,6})$/;

/** Extends a file name over the capitalized words before it if they follow a word such as `named`: `a file named Salary Review Q3.zip`. */
function findNamedFile(text: string, candidate: IndicatorCandidate): IndicatorCandidate | undefined {
  if (!/[A-Z\d]/.test(text[candidate.start]!)) return undefined;
  const words = namedFile.exec(text.slice(Math.max(0, candidate.start - nameMaxChars), candidate.start))?.[1];
  return words === undefined ? undefined : { ...candidate, start: candidate.start - words.length };
}

/** Words that show that a line is a statement about a file, not its name. */
const statement =
  /\b(?:renamed|copied|moved|saved|dropped|named|called|drops?|uses?|runs?|executes?|creates?|downloads?|loads?|legitimate|malicious|file|path|process|module|script)\b/i;

const digestMinChars = 32;
const digestBefore = /[0-9a-f]{32,128}([ \t]*[-–—,:;|][ \t]*|[ \t]+)/i;

/**
 * Extends a file name over its words if a digest and a separator are before them: `d8f254… - quarterly report.exe`. Returns undefined if no
 * digest is before it.
 */
function findNameBehindDigest(text: string, candidate: IndicatorCandidate): IndicatorCandidate | undefined {
  const near = text.slice(Math.max(0, candidate.start - nameMaxChars), candidate.start);
  const before = near.slice(near.lastIndexOf('\n') + 1);
  if (before.length < digestMinChars) return undefined;
  const digest = digestBefore.exec(before);
  if (!digest) return undefined;
  const [{ length }, separator] = digest;
  const lead = before.slice(0, digest.index);
  const name = before.slice(digest.index + length);
  // A single space separates only if the line starts with the digest.
  if (separator === ' ' && !/^[\s*•>|-]*$/.test(lead)) return candidate;
  const isName =
    name.length < 90 &&
    name.trim().split(/\s+/).length <= 8 &&
    /^[\w .,()'&+$#-]*$/.test(name) &&
    !otherName.test(name);
  return isName ? { ...candidate, start: candidate.start - name.length } : candidate;
}
