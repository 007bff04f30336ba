import type { EmitCandidate } from '../indicator-candidate.ts';
import { getCharClass, isWordCharAt } from './char-classes.ts';
import { isFileExtension } from './domain-names.ts';

const cueReach = 48;
/** Words before the name of a file, in several languages. */
const fileCue =
  /(?:\b(?:file ?name|named?|called|filename|namens|nommée?|intitulée?|appelée?|llamad[oa]|denominad[oa]|chamad[oa]|denominat[oa]|chiamat[oa]|o nazwie|genaamd|titled)|(?:^|[^\p{L}])(?:под названием|с именем|под именем|з назвою|із назвою)|(?:文件名|名为|名稱為|名称为|ファイル名)[为為是:：]?)[:：]?\s?["'`“„«‘「『《(（]?$/iu;

/** Returns whether the words before a name say that it is the name of a file: `a file named invoice.com`. */
export const isNamedAsFile = (text: string, start: number): boolean =>
  fileCue.test(text.slice(Math.max(0, start - cueReach), start));

const numberedMaxChars = 100;

/** Reads a file name whose extension follows a closing parenthesis, as in `invoice(2).zip` and `copy (1).zip`. `at` is the dot. */
export function readNumberedName(text: string, at: number, emit: EmitCandidate): number {
  let end = at + 1;
  while (isWordCharAt(text, end)) end += 1;
  if (end === at + 1 || !isFileExtension(text.slice(at + 1, end)) || text[end] === '.' || text[end] === '(') return at;
  const open = text.lastIndexOf('(', at);
  if (open < 0 || at - open > numberedMaxChars || /[)\n]/.test(text.slice(open, at - 1))) return at;
  const nameEnd = text[open - 1] === ' ' ? open - 1 : open;
  let start = nameEnd;
  while (nameEnd - start < numberedMaxChars && /[.\p{L}\p{N}_-]/u.test(text[start - 1] ?? ' ')) start -= 1;
  while (start < nameEnd && getCharClass(text.charCodeAt(start)) === 0) start += 1;
  if (start === nameEnd) return at;
  emit('file_name', start, end);
  return end;
}
