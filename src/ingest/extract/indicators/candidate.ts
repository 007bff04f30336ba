import type { IndicatorType } from '../../../feed/vocabulary.ts';

/** What a value may be: one of the indicator types, or something that no bucket holds. */
export type CandidateType = IndicatorType | `observable:${string}` | 'cve' | 'cwe' | 'capec' | 'attack';

/** A place in the clear text that has the form of a type; `doubt` (0 and up) says how much its form speaks against it. */
export type Candidate = {
  type: CandidateType;
  start: number;
  end: number;
  /** Clear text, where it is not just the slice. */
  value: string | undefined;
  doubt: number;
  /** Something in it was made harmless where it is printed. */
  defanged: boolean;
};

export type Emit = (type: CandidateType, start: number, end: number, more?: { value?: string; doubt?: number }) => void;

const wordBits = new Uint8Array(128);
for (let code = 0; code < 128; code += 1) {
  const char = String.fromCodePoint(code);
  if (/[\w-]/.test(char)) wordBits[code] = 1;
  if (/[0-9a-f]/i.test(char)) wordBits[code]! |= 2;
  if (/\d/.test(char)) wordBits[code]! |= 4;
}

/** 0 outside words; else bit 1, with bit 2 for a hex digit and bit 4 for a digit. Letters beyond ASCII belong to words. */
export function wordClass(code: number): number {
  if (code < 128) return wordBits[code]!;
  // Past the end of a text the code is NaN.
  if (!(code >= 0xc0) || code === 0xd7 || code === 0xf7) return 0;
  if (code >= 0x2000 && code <= 0x303f) return 0;
  return code >= 0xfe00 && code <= 0xff0f ? 0 : 1;
}

export const isWordAt = (text: string, at: number): boolean => wordClass(text.charCodeAt(at)) > 0;

/** Runs a sticky expression at a place. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
