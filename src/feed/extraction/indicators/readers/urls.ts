import { isIPv4 } from 'node:net';
import { matchAt, type EmitCandidate } from '../indicator-candidate.ts';
import { readDigest } from './codes.ts';
import { readBucketHost } from './cued-values.ts';
import { isFileExtension, isTopLevel } from './domain-names.ts';
import { findDottedEnd, unspacedScripts } from './char-classes.ts';

// Characters that end an address in running text, tables, AsciiDoc, Markdown and HTML.
const ending = /[\s"<>|`\\^{}[\]\u00A0\u00AB\u00BB\u2010-\u206F\u3000-\u303F\uFF00-\uFF0F\uFF1A-\uFF20\uFF61-\uFF65]/;
const ends = new Uint8Array(0x1_0000);
for (let code = 0; code < ends.length; code += 1) if (ending.test(String.fromCharCode(code))) ends[code] = 1;
const pathMaxChars = 4_000;

const port = /:\d{1,5}:?(?!\d|\.\d)/y;
const user = /[^\s/?#"'<>|`\\@[\]()]{1,100}@/y;
const ipv6Host = /\[[0-9a-f:.]{2,45}\]/iy;
const nextOfList = /[,;][a-z]{3,6}:\/\//iy;
const unspacedLetter = new RegExp(`[${unspacedScripts}]`);
const schemes = new Set('http https ftp ftps sftp ws wss tcp udp ldap ldaps rmi smb ssh socks5 stratum'.split(' '));

/** Returns the end of an address whose host ends at `hostEnd`, including port, path and query without trailing punctuation. */
export function findAddressEnd(text: string, hostEnd: number): number {
  const portEnd = hostEnd + (matchAt(port, text, hostEnd)?.[0].length ?? 0);
  let end = /[/?#]/.test(text[portEnd] ?? '') ? findPathEnd(text, portEnd) : portEnd;
  while (end > hostEnd && (/[.,;:!?'*_\]}>”’…+]/.test(text[end - 1]!) || isStrikethrough(text, hostEnd, end))) end -= 1;
  return spacedEnd(text, hostEnd, end);
}

const addressMaxChars = 300;

/** Returns whether an address ends with the tildes of a passage that Markdown strikes through. Encoded data ends with tildes, too. */
const isStrikethrough = (text: string, hostEnd: number, end: number): boolean =>
  text[end - 1] === '~' && /~~[^\s~]*$/.test(text.slice(Math.max(0, hostEnd - addressMaxChars), hostEnd));

/** Reads character by character, so that the time stays linear even for many adjacent addresses. */
function findPathEnd(text: string, start: number): number {
  const last = Math.min(text.length, start + pathMaxChars);
  let open = 0;
  for (let at = start; at < last; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x0a && isWrapped(text, at)) continue;
    if (ends[code] === 1 || isGlued(text, at, code)) return at;
    // An unmatched closing parenthesis ends the address.
    if (code === 0x28) open += 1;
    else if (code === 0x29 && (open -= 1) < 0) return at;
  }
  return last;
}

const wrapColumn = 60;
const wrappedRest = /[\w%./=&?+#~:-]{2,200}(?=[ \t]{0,8}(?:\r?\n|$))/y;

/** Returns whether an address continues on the next line: it reaches the end of a long line, and the next line contains only its rest. */
function isWrapped(text: string, at: number): boolean {
  if (!/[-=&?_%]/.test(text[at - 1]!) || text.lastIndexOf('\n', at - 1) > at - wrapColumn) return false;
  const rest = matchAt(wrappedRest, text, at + 1)?.[0];
  return rest !== undefined && !/^\w{2,8}:\/\/|^[0-9a-f]{32,}$|^\d{1,3}(?:\.\d{1,3}){3}/i.test(rest) && !isHost(rest);
}

/** Returns whether the next address starts here, or prose in a script without spaces (which is part of the address after `/` and `=`). */
function isGlued(text: string, at: number, code: number): boolean {
  if (code === 0x2c || code === 0x3b) return matchAt(nextOfList, text, at) !== null || isNextColumn(text, at);
  if (code === 0x68) return /\w/.test(text[at - 1]!) && /^https?:\/\//.test(text.slice(at, at + 8));
  return code > 0xe00 && unspacedLetter.test(text[at]!) && /[\w).]/.test(text[at - 1]!);
}

/** Returns whether the next column of a CSV line starts at a comma after a file name: `https://host/a.exe,Loader` */
function isNextColumn(text: string, at: number): boolean {
  if (text.charCodeAt(at) !== 0x2c || !/["\p{L}]/u.test(text[at + 1] ?? '')) return false;
  const extension = /\.(\w{2,5})$/.exec(text.slice(Math.max(0, at - 6), at))?.[1];
  return extension !== undefined && isFileExtension(extension);
}

/** Extends an address in a code span over spaces before its file name: `http://host/a - (1).zip`. */
function spacedEnd(text: string, hostEnd: number, end: number): number {
  if (text[end] !== ' ' || text[hostEnd] !== '/') return end;
  const rest = matchAt(/ [^\n`"<>|]{1,80}\.(\w{2,5})`/y, text, end);
  return rest && isFileExtension(rest[1]!) ? end + rest[0].length - 1 : end;
}

/** Reads `scheme://host…`. `extractIndicators` adds the host as a separate indicator. */
export function readUrl(text: string, start: number, emit: EmitCandidate): number {
  const colon = text.indexOf(':', start);
  const afterScheme = colon + 3;
  const scheme = text.slice(start, colon).toLowerCase();
  if (scheme === 's3' || scheme === 'gs') return readBucket(text, afterScheme, emit);
  if (!schemes.has(scheme)) return afterScheme;
  const hostStart = afterScheme + (matchAt(user, text, afterScheme)?.[0].length ?? 0);
  const hostEnd =
    hostStart + (matchAt(ipv6Host, text, hostStart)?.[0].length ?? findDottedEnd(text, hostStart) - hostStart);
  if (!isHost(text.slice(hostStart, hostEnd))) return hostEnd;
  readBucketHost(text, hostStart, hostEnd, emit);
  const end = findAddressEnd(text, hostEnd);
  const printed = text.slice(start, end);
  emit('url', start, end, printed.includes('\n') ? { value: printed.replaceAll('\n', '') } : undefined);
  if (sampleSite.test(text.slice(hostStart, hostEnd)) || isSamplePage(printed)) readSample(text, hostEnd, end, emit);
  return end;
}

/** Sites that identify a sample by the digest in the URL. */
const sampleSite =
  /(?:^|\.)(?:virustotal\.com|abuse\.ch|hybrid-analysis\.com|any\.run|tria\.ge|joesandbox\.com|malshare\.com)$/i;

const samplePage =
  /^https?:\/\/(?![\d.]+[:/])[^/]+\/(?:[^?#]*\/)?(?:reports?|samples?|analys[ei]s|files?|gui|search|hash|submissions?)\/(?:[\w-]+\/)?(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})(?![0-9a-f.])/i;

/** Returns whether a URL is a page of an analysis service with the digest of a sample in its address: `/report/file/<digest>`. */
export const isSamplePage = (url: string): boolean => samplePage.test(url);

const lookupPage =
  /^https?:\/\/(?![\d.]+[:/])[^/]+\/(?:[^?#]*\?(?:[^#]*&)?(?:url|domain|host|site|q|query|search|lookup)=|(?:[^?#]*\/)?(?:domains?|hosts?|ip|ip-address|whois|lookup|reputation)\/)((?:[a-z\d-]{1,63}\.){1,5}(?:[a-z]{2,24}|\d{1,3}))(?=$|[/?&#])/i;

/** Returns whether a page of a lookup service has another host in its address: `/domain/example.org`, `?search=example.org`. */
export function isLookupPage(url: string): boolean {
  const host = lookupPage.exec(url)?.[1];
  return host !== undefined && isHost(host) && !isFileExtension(host.split('.').at(-1)!.replace(/^com$/i, ''));
}

function readSample(text: string, from: number, end: number, emit: EmitCandidate): void {
  const digest = /(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})(?![0-9a-f])/i.exec(text.slice(from, end));
  if (digest) readDigest(from + digest.index, digest[0], emit);
}

/** Returns whether a URL host is an IP address or a name under a known top-level domain. */
function isHost(name: string): boolean {
  if (name.startsWith('[')) return true;
  if (isIPv4(name)) return true;
  const labels = name.split('.');
  return labels.length > 1 && labels.every((label) => label.length <= 63) && isTopLevel(labels.at(-1)!);
}

function readBucket(text: string, from: number, emit: EmitCandidate): number {
  const name = matchAt(/[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]/y, text, from);
  if (!name) return from;
  emit('bucket', from, from + name[0].length);
  return findAddressEnd(text, from + name[0].length);
}
