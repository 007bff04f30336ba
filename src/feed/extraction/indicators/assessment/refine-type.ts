import type { IndicatorType } from '../../../model/vocabulary.ts';
import type { IndicatorCandidate } from '../indicator-candidate.ts';
import type { ValueContext } from './value-context.ts';

const reach = 60;

/** Refines a type by the words around the value: a hash may be an import hash or a certificate hash, a file may be a process. */
export function refineType(
  text: string,
  candidate: IndicatorCandidate,
  context: ValueContext,
): IndicatorType | undefined {
  const { type, start } = candidate;
  if (type === 'file_name')
    return /process/i.test(context.heading) && processesHeading.test(context.heading) ? 'process_name' : type;
  const before = text.slice(Math.max(0, start - reach), start);
  const lineBefore = before.slice(before.lastIndexOf('\n') + 1);
  // Most hashes are at the start of a line, so there is no text to check.
  switch (type) {
    case 'md5':
      return /\bimphash\b/i.test(lineBefore) || /\bimphash\b/i.test(context.heading) ? 'imphash' : type;
    case 'sha1':
    case 'sha256':
      return lineBefore.length > 6 && certificateCue.test(lineBefore) ? `cert_${type}` : type;
    case 'android_package': {
      const near = `${context.heading} ${lineBefore}`;
      if (/\bbundle\b|\bios\b/i.test(near)) return 'ios_bundle';
      return /\b(?:package|packages|apk|android)\b/i.test(near) ? type : undefined;
    }
    default:
      return type as IndicatorType;
  }
}

const processesHeading = /\bprocess(?:es)?(?: names?)?\s*:?$/i;
const certificateCue = /\b(?:thumbprint|certificate|cert fingerprint)\b/i;

const nameMaxChars = 160;
const digestMinChars = 32;
const digestBefore = /[0-9a-f]{32,128}([ \t]*[-–,:;|][ \t]*|[ \t]+)/i;

/** Extends a file name to the left over spaces and apostrophes if a digest, its cell, code span or list line shows where it starts. */
export function extendFileName(text: string, candidate: IndicatorCandidate, context: ValueContext): IndicatorCandidate {
  // Only a space or an apostrophe before the last word can continue the name.
  const last = text.charCodeAt(candidate.start - 1);
  if (last !== 0x20 && last !== 0x27) return candidate;
  return findNameBehindDigest(text, candidate) ?? findDelimitedName(text, candidate, context.section) ?? candidate;
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
  const start = candidate.start - inside.trimStart().length;
  if (!/^[\w .,()'&+-]*\w[\w .,()'&+-]* $/.test(`${inside.trim()} `)) return undefined;
  const words = inside.trim().split(/\s+/).length;
  const isName =
    opener === '`'
      ? words <= 10
      : section === 'indicators' &&
        words <= (opener === '|' ? 6 : 4) &&
        !/^[-*]/.test(inside.trim()) &&
        !statement.test(inside);
  if (isName) return { ...candidate, start };
  const item = /^\s*[-*•] (?=(?:[A-Z\d][\w.,()'&+-]* ){1,4}$)/.exec(inside)?.[0];
  return item !== undefined && !statement.test(inside)
    ? { ...candidate, start: candidate.start - inside.length + item.length }
    : undefined;
}

/** Words that show that a line is a statement about a file, not its name. */
const statement =
  /\b(?:renamed|copied|moved|saved|dropped|named|called|drops?|uses?|runs?|executes?|creates?|downloads?|loads?|legitimate|malicious|file|path|process|module|script)\b/i;

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
  const isName = name.length < 90 && name.trim().split(/\s+/).length <= 8 && /^[\w .,()'&+$#-]*$/.test(name);
  return isName ? { ...candidate, start: candidate.start - name.length } : candidate;
}
