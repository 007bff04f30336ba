import { isIPv4 } from 'node:net';
import { type IndicatorType, normalizeValue } from '../../model/values/indicator-types.ts';

/** The type of a candidate: an indicator type, or a type without an indicator bucket. */
export type IndicatorCandidateType = IndicatorType | `observable:${string}` | 'cve' | 'cwe' | 'capec' | 'attack';

/** A span of the refanged text with the form of a type. `doubt` (0 or more) is the evidence in its form against that type. */
export type IndicatorCandidate = {
  type: IndicatorCandidateType;
  start: number;
  end: number;
  /** The refanged value if it differs from the text of the span. */
  value: string | undefined;
  doubt: number;
  /** Whether any part of the span is defanged in the original text. */
  defanged: boolean;
};

export type EmitCandidate = (
  type: IndicatorCandidateType,
  start: number,
  end: number,
  more?: { value?: string; doubt?: number },
) => void;

/** The conjunction of the character classes of a word, and the callback for its candidates. */
export type WordInfo = { bits: number; emit: EmitCandidate };

/** Matches a sticky expression at an offset. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Returns the canonical form of a refanged value, or undefined if it is invalid. Common types bypass the slower `normalizeValue`. */
export function canonicalize(type: IndicatorType, clear: string): string | undefined {
  switch (type) {
    case 'md5':
    case 'sha1':
    case 'sha256':
    case 'sha512':
    case 'imphash':
      return clear.toLowerCase();
    case 'ipv4':
      return isIPv4(clear) ? clear : undefined;
    case 'domain':
      return /^[a-z0-9.-]+$/i.test(clear) && clear.length <= 253 ? clear.toLowerCase() : normalizeValue(type, clear);
    case 'url':
      // Some reports print a port as `host:80:/path`.
      return canonicalizeUrl(clear.replace(/(:\d{1,5}):(?=\/|$)/, '$1'));
    case 'file_name':
    case 'file_path':
      return clear.length <= 8_192 ? clear.normalize('NFC') : undefined;
    default:
      return normalizeValue(type, clear);
  }
}

/** Like `normalizeValue`, for a URL that is already refanged. */
function canonicalizeUrl(clear: string): string | undefined {
  const absolute = /^[a-z][a-z0-9+.-]*:\/\//i.test(clear) ? clear : `http://${clear}`;
  const url = clear.length <= 8_192 ? URL.parse(absolute) : null;
  if (!url || url.hostname === '') return undefined;
  if (absolute.includes('#')) url.hash = '';
  return url.href;
}
