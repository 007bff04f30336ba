import type { IndicatorType } from '../../model/values/indicator-types.ts';

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
