import { isIPv4 } from 'node:net';
import { matchAt, type Emit } from './candidate.ts';
import { readBucketHost } from './cues.ts';
import { isFileEnding, isTopLevel } from './names.ts';

// What ends an address in running text, tables, AsciiDoc, Markdown and HTML.
const tail = /(?::\d{1,5}:?(?![\d.]))?(?:[/?#][^\s"<>|`\\^{}[\]\u00A0\u2018-\u201F\u3000-\u303F]{0,4000})?/y;
const authority = /(?:[^\s/?#"'<>|`\\@[\]()]{1,100}@)?(?:\[[0-9a-f:.]{2,45}\]|[^\s/?#"'<>|`\\@[\](){},;:]{1,253})/iy;
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
  const match = matchAt(tail, text, hostEnd);
  const end = trimEnd(text, hostEnd, hostEnd + (match?.[0].length ?? 0));
  return spacedEnd(text, hostEnd, end);
}

function trimEnd(text: string, start: number, from: number): number {
  let end = from;
  let open = 0;
  for (let at = start; at < end; at += 1) open += text[at] === '(' ? 1 : text[at] === ')' ? -1 : 0;
  while (end > start) {
    const last = text[end - 1]!;
    // A bracket that was opened inside belongs to the address.
    if (last === ')' && open < 0) open += 1;
    else if (!/[.,;:!?'*_~\]}>”’…+]/.test(last)) break;
    end -= 1;
  }
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
  const host = matchAt(authority, text, afterScheme);
  if (!host) return afterScheme;
  let hostEnd = afterScheme + host[0].length;
  const trimmed = host[0].replace(/[.*'!~_+-]+$/, '');
  if (trimmed.length < host[0].length) hostEnd = afterScheme + trimmed.length;
  const name = trimmed.slice(trimmed.indexOf('@') + 1);
  if (!isHost(name)) return hostEnd;
  readBucketHost(text, hostEnd - name.length, hostEnd, emit);
  const end = trimmed.length < host[0].length ? hostEnd : endOfAddress(text, hostEnd);
  emit('url', start, end);
  return end;
}

/** A host that can stand in an address: an IP address, or a name under a delegated top-level domain. */
export function isHost(name: string): boolean {
  if (name.startsWith('[')) return true;
  if (isIPv4(name)) return true;
  const labels = name.split('.');
  const named =
    labels.length > 1 && labels.every((label) => /^[\w-]{1,63}$/.test(label) || /[^\u0000-\u007F]/.test(label));
  return named && (isTopLevel(labels.at(-1)!) || /[^\u0000-\u007F]|^xn--/.test(labels.at(-1)!));
}

function readBucket(text: string, from: number, emit: Emit): number {
  const name = matchAt(/[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]/y, text, from);
  if (!name) return from;
  emit('bucket', from, from + name[0].length);
  return endOfAddress(text, from + name[0].length);
}
