import type { IndicatorType } from '../../model/vocabulary.ts';

/** What a value may be: one of the indicator types, or something that no bucket holds. */
export type IndicatorCandidateType = IndicatorType | `observable:${string}` | 'cve' | 'cwe' | 'capec' | 'attack';

/** A place in the clear text that has the form of a type; `doubt` (0 and up) says how much its form speaks against it. */
export type IndicatorCandidate = {
  type: IndicatorCandidateType;
  start: number;
  end: number;
  /** Clear text, where it is not just the slice. */
  value: string | undefined;
  doubt: number;
  /** Something in it was made harmless where it is printed. */
  defanged: boolean;
};

export type EmitCandidate = (
  type: IndicatorCandidateType,
  start: number,
  end: number,
  more?: { value?: string; doubt?: number },
) => void;

/** Runs a sticky expression at a place. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
