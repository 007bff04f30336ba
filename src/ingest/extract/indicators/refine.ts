import type { IndicatorType } from '../../../feed/vocabulary.ts';
import type { Candidate } from './candidate.ts';
import type { Context } from './context.ts';

const reach = 60;

/** The type that the words around a value give it: a hash may be an import hash or a certificate's, a file a process, a name a package. */
export function retype(text: string, candidate: Candidate, context: Context): IndicatorType | undefined {
  const { type, start } = candidate;
  const before = text.slice(Math.max(0, start - reach), start);
  const lineBefore = before.slice(before.lastIndexOf('\n') + 1);
  const near = `${context.heading} ${lineBefore}`;
  switch (type) {
    case 'md5':
      return /\bimphash\b/i.test(near) ? 'imphash' : type;
    case 'sha1':
    case 'sha256':
      return /\b(?:thumbprint|certificate|cert fingerprint)\b/i.test(lineBefore) ? `cert_${type}` : type;
    case 'file_name':
      return /\bprocess(?:es)?(?: names?)?\s*:?$/i.test(context.heading) ? 'process_name' : type;
    case 'android_package':
      if (/\bbundle\b|\bios\b/i.test(near)) return 'ios_bundle';
      return /\b(?:package|packages|apk|android)\b/i.test(near) ? type : undefined;
    default:
      return type as IndicatorType;
  }
}

const nameMaxChars = 90;

/** A file name with blanks, where its cell, its code span or its line in a list shows where it begins. */
export function widen(text: string, candidate: Candidate, context: Context): Candidate {
  const from = Math.max(0, candidate.start - nameMaxChars);
  const before = text.slice(from, candidate.start);
  const edge = Math.max(
    before.lastIndexOf('`'),
    before.lastIndexOf('|'),
    before.lastIndexOf('\t'),
    before.lastIndexOf('\n'),
    from === 0 ? 0 : -1,
  );
  const opener = before[edge] ?? '';
  const inside = before.slice(edge === 0 && opener !== '\n' && !/[`|\t]/.test(opener) ? 0 : edge + 1);
  const start = candidate.start - inside.trimStart().length;
  const closer = text[candidate.end] ?? '\n';
  const closed = /[`|\t\n\r]/.test(closer) || /^ +\|/.test(text.slice(candidate.end, candidate.end + 80));
  if (edge < 0 || !closed || !/^[\w .,()'&+-]*\w[\w .,()'&+-]* $/.test(`${inside.trim()} `)) return candidate;
  const words = inside.trim().split(/\s+/).length;
  const isName =
    opener === '`'
      ? words <= 10
      : context.section === 'indicators' && words <= (opener === '|' ? 6 : 4) && !/^[-*]/.test(inside.trim());
  return isName ? { ...candidate, start } : candidate;
}
