import { isIPv4 } from 'node:net';
import { matchAt, type EmitCandidate } from '../indicator-candidate.ts';
import { unspacedScripts, getCharClass, isWordCharAt } from './char-classes.ts';
import { isFileExtension, isTopLevel } from './domain-names.ts';

// A drive, an environment variable, a known folder token or a share, then segments, which may contain spaces.
const windowsPath =
  /(?:[a-z]:(?=\\)|%[\w() ]{2,32}%|\\\\[\w.$-]{1,253}(?:@(?:ssl(?:@\d{1,5})?|\d{1,5}))?(?=\\)|<[A-Z_]{3,24}>|\{[A-Z_]{3,24}\}|\$env:\w{2,32}|\[[A-Z_]{3,24}\])(?:\\{1,2}(?:<[\w .-]{1,30}>|(?![&\s])[^\\/:*?"<>|\r\n\t`;+\u2018-\u201F]{1,120}(?:\+(?!\+)[^\\/:*?"<>|\r\n\t`;+\u2018-\u201F]{0,60}){0,3})){1,24}\\?/iy;

/** Reads a Windows path from its root and ends it where prose starts. */
export function readWindowsPath(text: string, start: number, emit: EmitCandidate): number {
  const match = matchAt(windowsPath, text, start);
  if (!match) return start;
  const next = text[start + match[0].length];
  // A second path may follow on the same line.
  const cut = match[0].search(
    next === ':' ? /\s(?:(?:and|or|to|in)\s)?[a-z]$/i : /\s(?:(?:and|or|to|in)\s)?(?=%\w{2,32}%\\)/i,
  );
  const end = start + (cut < 0 ? findPathEnd(match[0], next) : findPathEnd(match[0].slice(0, cut), ' '));
  const path = text.slice(start, end);
  if (path.length < 6 || !/\\\w|\\[^\\]{2}/.test(path)) return start + 2;
  readWebDavHost(text, start, emit);
  const isPdb = /\.pdb$/i.test(path);
  emit(isPdb ? 'observable:pdb' : 'file_path', start, end, { doubt: /^%[\w() ]+%\\?$/.test(path) ? 2 : 0 });
  return end;
}

const webDavHost = /\\\\([\w.-]{4,253})(?:@(?:ssl|\d{1,5})|(?=\\))/iy;

/** Reads the host of a share that is an address, or a name with the port of WebDAV: `\\host@80\folder`. */
function readWebDavHost(text: string, start: number, emit: EmitCandidate): void {
  const match = matchAt(webDavHost, text, start);
  if (!match) return;
  const [printed, host = ''] = match;
  const end = start + 2 + host.length;
  if (isIPv4(host)) emit('ipv4', start + 2, end);
  else if (printed.includes('@') && host.includes('.') && isTopLevel(host.split('.').at(-1)!))
    emit('domain', start + 2, end);
}

const closesFile = new RegExp(`[\\s${unspacedScripts}]`);
const fileInSegment = new RegExp(`^(.{0,100}?\\.(\\w{2,11}))(?=[\\s,)\\]'}${unspacedScripts}]|$)`);

/** Ends the path at the first segment with a file extension followed by a space. Words after a folder name are prose. */
function findPathEnd(path: string, next: string | undefined): number {
  let at = path.indexOf('\\');
  while (at >= 0 && at < path.length) {
    const close = path.indexOf('\\', at + 1);
    const segment = path.slice(at + 1, close < 0 ? path.length : close);
    const file = fileInSegment.exec(segment);
    if (file && isFileExtension(file[2]!) && (close < 0 || closesFile.test(segment[file[1]!.length] ?? '')))
      return at + 1 + file[1]!.length;
    if (close < 0) return at + 1 + findFolderEnd(segment, next);
    at = close;
    if (path[at + 1] === '\\') at += 1;
  }
  return trimPunctuation(path).length;
}

/** Removes trailing punctuation but keeps a closing bracket whose opening bracket is part of the path. */
function trimPunctuation(path: string): string {
  let trimmed = path;
  for (let last = trimmed.at(-1) ?? ''; /[\s.,)\]'}]/.test(last); last = trimmed.at(-1) ?? '') {
    const opener = { ')': '(', ']': '[', '}': '{' }[last];
    if (opener && trimmed.split(opener).length >= trimmed.split(last).length) break;
    trimmed = trimmed.slice(0, -1);
  }
  return trimmed;
}

function findFolderEnd(segment: string, next: string | undefined): number {
  const whole = trimPunctuation(segment);
  // A quote, cell edge or line end shows that the spaces belong to the name.
  const isLineEnd = next === undefined || /[\r\n]/.test(next);
  // A sentence that ends the line can continue behind the name of a folder.
  const isClosed = isLineEnd ? !/ .*[.!?]$/.test(segment) : /["`|<+\u2018-\u201F]/.test(next);
  if (isClosed && whole.split(' ').length <= 4) return whole.length;
  return trimPunctuation(whole.split(/[\s,]/)[0]!).length;
}

const slashed = /[a-z]:(?:\/[^\s/:*?"'<>|`,;()]{1,100}){2,24}/iy;

/** Reads a Windows path with forward slashes: `C:/Users/…`. */
export function readSlashedPath(text: string, start: number, emit: EmitCandidate): number {
  const match = matchAt(slashed, text, start);
  if (!match) return start;
  const end = start + trimPunctuation(match[0]).length;
  emit(/\.pdb$/i.test(text.slice(start, end)) ? 'observable:pdb' : 'file_path', start, end);
  return end;
}

const registry =
  /(?:\(HKLM\|HKCU\)|HK(?:LM|CU|CR|U|CC)(?::(?=\\))?|HKEY_(?:LOCAL_MACHINE|CURRENT_USER|CLASSES_ROOT|USERS|CURRENT_CONFIG))(?:\\{1,2}[^\\\r\n\t`"<>|+\u2018-\u201F]{1,160}){1,24}\\?/iy;

/** Reads a registry key from its hive. */
export function readRegistryKey(text: string, start: number, emit: EmitCandidate): number {
  const match = matchAt(registry, text, start);
  if (!match) return start;
  const printed = match[0];
  const at = printed.lastIndexOf('\\', printed.length - 2);
  const last = printed.slice(at + 1);
  const next = text[start + printed.length];
  const isClosed = next === undefined || /["`|<+\r\n\u2018-\u201F]/.test(next);
  // The name and data of a value may follow the key.
  const cut = last.search(
    /(?:;|\.\s|\s\/\w|\s=|=|\s+(?:and|or|to|with|is|was|in|for|key|value|registry|has|which|where|then|as|on)\b|[,(:])/i,
  );
  let trimmed = cut >= 0 ? last.slice(0, cut) : last;
  if (!isClosed && cut < 0) trimmed = trimmed.split(/\s/)[0]!;
  const end = start + at + 1 + trimPunctuation(trimmed).length;
  if (end - start < 8) return start + 4;
  emit('registry_key', start, end);
  return end;
}

// A folder name may contain spaces before capital letters: `Application Support`.
const unixPath =
  /(?:(?:~|\$HOME)(?=\/[\w.]{2})|\/(?:bin|boot|dev|etc|home|lib|lib64|media|mnt|opt|private|proc|root|run|sbin|srv|sys|tmp|usr|var|Applications|Library|Users|Volumes|data|sdcard|storage|System)(?=\/))(?:\/[\w.@+,{}$%~=-]{1,120}(?:(?: [A-Z][\w.-]{0,40}){1,3}(?=\/))?){1,24}\/?/y;

/** Reads a path of Linux, macOS or Android, but not the path of a URL. */
export function readUnixPath(text: string, start: number, emit: EmitCandidate): number {
  const before = text[start - 1] ?? ' ';
  if (getCharClass(text.charCodeAt(start - 1)) & 1 || /[./:)\]}]/.test(before)) return start;
  // Shells open connections with `/dev/tcp/<host>/<port>`.
  if (/^\/dev\/(?:tcp|udp)\//.test(text.slice(start, start + 9))) return start + 8;
  const match = matchAt(unixPath, text, start);
  if (!match) return start;
  const end = start + match[0].replace(/[.,]+$/, '').length;
  emit('file_path', start, end, { doubt: /^\/(?:dev|proc|bin|sbin|usr\/s?bin)\//.test(match[0]) ? 1 : 0 });
  return end;
}

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
