import { matchAt, type EmitCandidate } from '../indicator-candidate.ts';

const rest = /(?:[ \t]?\r?\n[ \t]{0,2}[0-9a-f]{4,112}){1,3}(?![\w.-])/iy;
const typeByDigits: Record<number, 'sha1' | 'sha256' | 'sha512'> = { 40: 'sha1', 64: 'sha256', 128: 'sha512' };
const digestLengths = new Set([32, 40, 64, 128]);

/**
 * Reads a digest that a narrow column breaks over two to four lines, starting with the first of them. A line that is
 * itself a complete digest is never joined to another. Returns where the digest ends, or `end` if the lines form none.
 */
export function readSplitDigest(text: string, start: number, end: number, emit: EmitCandidate): number {
  const first = text.slice(start, end);
  if (!/^[0-9a-f]+$/i.test(first)) return end;
  const more = matchAt(rest, text, end)?.[0];
  if (more === undefined) return end;
  const parts = more.trim().split(/\s+/);
  const value = first + parts.join('');
  const type = typeByDigits[value.length];
  if (!type || parts.some(({ length }) => digestLengths.has(length)) || !/[a-f]/i.test(value) || !/\d/.test(value))
    return end;
  emit(type, start, end + more.length, { value });
  return end + more.length;
}
