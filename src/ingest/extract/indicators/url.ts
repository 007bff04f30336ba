import { isIPv4 } from 'node:net';
import { matchAt, type Emit } from './candidate.ts';
import { readBucketHost } from './cues.ts';
import { isFileEnding, isTopLevel } from './names.ts';
import { endOfDotted, unspaced } from './words.ts';

// What ends an address in running text, tables, AsciiDoc, Markdown and HTML.
const tail =
  /(?::\d{1,5}:?(?![\d.]))?(?:[/?#][^\s"<>|`\\^{}[\]\u00A0\u00AB\u00BB\u2010-\u206F\u3000-\u303F\uFF00-\uFF0F\uFF1A-\uFF20\uFF61-\uFF65]{0,4000})?/y;
const user = /[^\s/?#"'<>|`\\@[\]()]{1,100}@/y;
const ipv6Host = /\[[0-9a-f:.]{2,45}\]/iy;
// The next address of a list or right behind, and prose of a script without blanks; letters of it behind a `/` or a `=` belong to the address.
const glued = new RegExp(`[,;](?=[a-z]{3,6}://)|(?<=\\w)(?=https?://)|(?<=[\\w).])[${unspaced}]`, 'i');
const schemes = new Set([
  'http',
  'https',
  'ftp',
  'ftps',
  'sftp',
  'ws',
  'wss',
  'tcp',
  'udp',
  'ldap',
  'ldaps',
  'rmi',
  'smb',
  'ssh',
  'socks5',
  'stratum',
]);

/** Where an address that has its host until `hostEnd` ends: port, path and query, without the punctuation of the sentence. */
export function endOfAddress(text: string, hostEnd: number): number {
  const printed = matchAt(tail, text, hostEnd)?.[0] ?? '';
  const cut = printed.search(glued);
  const end = trimEnd(text, hostEnd, hostEnd + (cut < 0 ? printed.length : cut));
  return spacedEnd(text, hostEnd, end);
}

function trimEnd(text: string, start: number, from: number): number {
  let end = start;
  // A bracket that was opened inside belongs to the address; one that was not ends it.
  for (let open = 0; end < from; end += 1) {
    if (text[end] === '(') open += 1;
    else if (text[end] === ')' && (open -= 1) < 0) break;
  }
  while (end > start && /[.,;:!?'*_~\]}>”’…+]/.test(text[end - 1]!)) end -= 1;
  return end;
}

/** Inside a code span an address may hold blanks before its file name: `http://host/a - (1).zip`. */
function spacedEnd(text: string, hostEnd: number, end: number): number {
  if (text[end] !== ' ' || text[hostEnd] !== '/') return end;
  const rest = matchAt(/ [^\n`"<>|]{1,80}\.(\w{2,5})`/y, text, end);
  return rest && isFileEnding(rest[1]!) ? end + rest[0].length - 1 : end;
}

/** `scheme://host…` where the scheme stands in `[start, colon)`. The host is emitted besides, by the judge. */
export function readUrl(text: string, start: number, emit: Emit): number {
  const colon = text.indexOf(':', start);
  const afterScheme = colon + 3;
  const scheme = text.slice(start, colon).toLowerCase();
  if (scheme === 's3' || scheme === 'gs') return readBucket(text, afterScheme, emit);
  if (!schemes.has(scheme)) return afterScheme;
  const hostStart = afterScheme + (matchAt(user, text, afterScheme)?.[0].length ?? 0);
  const hostEnd =
    hostStart + (matchAt(ipv6Host, text, hostStart)?.[0].length ?? endOfDotted(text, hostStart) - hostStart);
  if (!isHost(text.slice(hostStart, hostEnd))) return hostEnd;
  readBucketHost(text, hostStart, hostEnd, emit);
  const end = endOfAddress(text, hostEnd);
  emit('url', start, end);
  return end;
}

/** A host that can stand in an address: an IP address, or a name under a delegated top-level domain. */
export function isHost(name: string): boolean {
  if (name.startsWith('[')) return true;
  if (isIPv4(name)) return true;
  const labels = name.split('.');
  return labels.length > 1 && labels.every((label) => label.length <= 63) && isTopLevel(labels.at(-1)!);
}

function readBucket(text: string, from: number, emit: Emit): number {
  const name = matchAt(/[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]/y, text, from);
  if (!name) return from;
  emit('bucket', from, from + name[0].length);
  return endOfAddress(text, from + name[0].length);
}
