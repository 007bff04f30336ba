import type { IndicatorCandidate } from '../indicator-candidate.ts';
import type { ValueContext } from './value-context.ts';
import type { IndicatorType } from '../../../model/values/indicator-types.ts';

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
