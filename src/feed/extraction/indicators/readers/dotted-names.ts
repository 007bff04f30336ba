import { isIPv4 } from 'node:net';
import { parseAddressRange } from '../../../model/values/address-ranges.ts';
import { matchAt, type EmitCandidate } from '../indicator-candidate.ts';
import { readBucketHost } from './cued-values.ts';
import { readDigest } from './codes.ts';
import {
  isCodeRoot,
  isDetectionName,
  isFileExtension,
  isMemberName,
  isSuspiciousTopLevel,
  isTopLevel,
} from './domain-names.ts';
import { findAddressEnd } from './urls.ts';
import { isNamedAsFile } from './file-names.ts';
import { findDottedEnd, getCharClass } from './char-classes.ts';

/** Longer tokens are not read. */
const tokenMaxChars = 400;

const email = /[\w.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/iy;
const ipv4 = /\d{1,3}(?:\.\d{1,3}){3}/y;
/** Matches the first address of `203.0.113.7-203.0.113.9` or `203.0.113.7-9`. */
const rangeStart = /(\d{1,3}(?:\.\d{1,3}){3})-\d{1,3}(?:(?:\.\d{1,3}){3})?(?![\w-]|\.\w)/y;
/** The rest of a range after its first address. With blanks, a dash can also separate two addresses. */
const rangeEnd = /[-–—]\d{1,3}(?:(?:\.\d{1,3}){3})?(?![\w-]|\.\w)| [-–—] \d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\w)/y;
const sharedBytes = /^(\d+\.\d+)\.\d+\.\d+ ?[-–—] ?\1\./;
const afterIp = /(?:\/(?:3[0-2]|[12]?\d)(?![\w./-]))|(?::\d{1,5})?(?:\/[^\s"'<>|`]{0,2000})?/y;

/** Words joined by dots, and the character before them. */
type DottedToken = { start: number; end: number; labels: string[]; before: string };

/** Reads words joined by dots: an IP address, a host with or without port and path, a mail address, a file name. */
export function readDotted(text: string, start: number, emit: EmitCandidate): number {
  const end = findDottedEnd(text, start);
  if (text[end] === '@') return readEmail(text, start, emit, end);
  if (end - start > tokenMaxChars) return end;
  const isNumberFirst = (getCharClass(text.charCodeAt(start)) & 4) > 0;
  if (isNumberFirst && isNumbers(text, start, end)) return readNumbers(text, start, end, emit);
  const labels = text.slice(start, end).split('.');
  if (labels.length < 2) return end;
  if (isNumberFirst) {
    const first = matchAt(rangeStart, text, start)?.[1];
    if (first) return readNumbers(text, start, start + first.length, emit);
  }
  return readName(text, { start, end, labels, before: text[start - 1] ?? ' ' }, emit);
}

function readName(text: string, token: DottedToken, emit: EmitCandidate): number {
  const { start, end, labels, before } = token;
  const last = labels.at(-1)!;
  if (isFileExtension(last)) readDigest(start, labels[0]!, emit);
  // `'\\dropper.exe'` is how rules match the end of a path.
  const isEndOfPath = before === '\\' && /["'*]/.test(text[start - 2] ?? ' ') && isFileExtension(last);
  if (isEndOfPath) emit('file_name', start, end);
  // A host follows `//`. The rest of a name follows `%20`.
  const isBehindSlash = before === '/' && text[start - 2] !== '/';
  if (isBehindSlash || before === '%' || before === '\\' || before === '$' || before === '@' || before === '#') {
    if (isBehindSlash && isFileExtension(last)) emit('file_name', start, end, { doubt: 1.5 });
    return end;
  }
  if (isFileExtension(last) && isTopLevel(last) && isNamedAsFile(text, start)) {
    emit('file_name', start, end);
    return end;
  }
  if (isPackage(labels)) emit('android_package', start, end, { doubt: 1 });
  const doubt = getHostDoubt(text, token);
  return doubt === undefined ? readFileName(text, token, emit) : readHost(text, token, doubt, emit);
}

/** Reads a host name or, with a port or a path, a URL. With much doubt, the name may also be that of a file. */
function readHost(text: string, { start, end, labels }: DottedToken, doubt: number, emit: EmitCandidate): number {
  readBucketHost(text, start, end, emit);
  const full = findAddressEnd(text, end);
  if (full > end) {
    emit('url', start, full, { doubt: Math.max(0, doubt - 0.5) });
    return full;
  }
  if (doubt >= 1 && isFileExtension(labels.at(-1)!))
    emit('file_name', start, end, { doubt: Math.max(0.5, getFileDoubt(labels, text[end] ?? ' ')) });
  emit('domain', start, end, { doubt });
  return end;
}

/** Reads a file name, or the IPv4 address at the end of a name. */
function readFileName(text: string, { start, end, labels }: DottedToken, emit: EmitCandidate): number {
  const token = text.slice(start, end);
  if ((isFileExtension(labels.at(-1)!) && isFileName(labels)) || /\.so(?:\.\d{1,4}){1,4}$/.test(token)) {
    emit('file_name', start, end, { doubt: getFileDoubt(labels, text[end] ?? ' ') });
    return end;
  }
  const embedded = token.search(/\d{1,3}(?:\.\d{1,3}){3}$/);
  if (embedded > 0 && token[embedded - 1] === '-') return readNumbers(text, start + embedded, end, emit);
  return end;
}

/** Returns whether a token consists of digits and dots and ends with a digit. */
function isNumbers(text: string, start: number, end: number): boolean {
  let at = end - 1;
  if (text.charCodeAt(at) === 0x2e) return false;
  for (; at >= start; at -= 1) {
    const code = text.charCodeAt(at);
    if (code !== 0x2e && (getCharClass(code) & 4) === 0) return false;
  }
  return true;
}

/** Checks for a reversed host name, the form of package and bundle identifiers. */
const isPackage = (labels: string[]): boolean =>
  labels.length >= 3 &&
  /^(?:com|org|net|io|app|me|ru|cn|de|in|eu|tr|br)$/.test(labels[0]!) &&
  labels.every((label) => /^[a-z]\w*$/i.test(label));

/** Checks for a complete file name (including `libcurl.so.4`), not a bare extension such as `.js`. */
const isFileName = (labels: string[]): boolean => labels.every((label) => label.length <= 120) && labels[0]!.length > 0;

const isCapital = (label: string): boolean => /^[A-Z][a-z]+$/.test(label);

/** Returns a high doubt for abbreviations (`u.a`), code (`e.data`, `console.log(…)`), glued sentences (`ended.So`) and `Booking.com`. */
function getFileDoubt(labels: string[], next: string): number {
  const last = labels.at(-1)!;
  const isShort = labels.length === 2 && labels[0]!.length === 1 && (last.length === 1 || isMemberName(last));
  const isCalled = next === '(' && isMemberName(last);
  const isName = last === 'com' && isCapital(labels[0]!);
  const isSentence =
    /^[A-Z]/.test(last) &&
    (last.length === 1 || (isCapital(last) && (isMemberName(last.toLowerCase()) || isSuspiciousTopLevel(last))));
  return isShort || isCalled || isName || isSentence ? 2 : 0;
}

/** Returns the doubt about a host name, or undefined if the token cannot be one. */
function getHostDoubt(text: string, { start, end, labels, before }: DottedToken): number | undefined {
  const last = labels.at(-1)!;
  if (!isTopLevel(last)) return undefined;
  if (labels.length > 12 || labels.some((label) => label.length > 63 || /^-|-$/.test(label))) return undefined;
  if (labels.slice(-2).some((label) => label.includes('_'))) return undefined;
  // A country's public suffix such as `co.uk` is not a host.
  if (labels.length === 2 && last.length === 2 && /^(?:com?|net|org|gov|edu|ac|mil)$/i.test(labels[0]!))
    return undefined;
  const token = text.slice(start, end);
  const hasCapital = token !== token.toLowerCase();
  let doubt = hasCapital && isDetectionName(labels) ? 3 : 0;
  const upper = hasCapital && token === token.toUpperCase();
  if (hasCapital && last !== last.toLowerCase()) doubt += upper ? 1 : 3;
  if (isSuspiciousTopLevel(last)) doubt += isFileExtension(last) ? 3 : 1.25;
  if (hasCapital && /[a-z][A-Z]/.test(token)) doubt += last.length === 2 ? 2 : 1;
  // `Booking.com` and `Service.gov.uk` are names.
  const isBare = labels.length === 2 || (labels.length === 3 && last.length === 2 && labels[1]!.length <= 4);
  if (hasCapital && isBare && isCapital(labels[0]!)) doubt += 1.25;
  if (isCodeRoot(labels[0]!)) doubt += labels.length > 2 ? 1 : 0.5;
  if (labels[0] === 'com' || labels[0] === 'org') doubt += 2;
  if (labels[0] === 'www' && labels.length > 2) doubt -= 1;
  if (labels[0]!.length === 1 && labels.length === 2) doubt += 0.5;
  const next = text[end] ?? ' ';
  if (next === '(') doubt += 2;
  if (next === '\\' || next === '=') doubt += 1;
  if (before === '.' || before === '-') doubt += 1;
  if (text[end] === '.' && text[end + 1] === '.') doubt += 0.5;
  return Math.max(0, doubt);
}

// A word for versions or sections, optionally followed by further numbers.
const versionCue =
  /(?:\b(?:versions?|versionen|versi[oó]n(?:es)?|vers[aã]o|ver|firmware|builds?|releases?|v|sections?|chapter|prior to|earlier than|(?:fixed|patched) in)|верси\p{L}{1,2}|版本|バージョン)[.:]?\s*(?:v?[\d.]{3,}\s{0,2}(?:,|-|–|and|or|to|through|until|und|bis|y|hasta|и|до|和|至)\s{0,2}){0,8}v?$/iu;

function isVersion(text: string, start: number, end: number): boolean {
  // At the start of a line or cell there is no word to check.
  const isFirst = /[\n|\t`]/.test(text[start - 1] ?? '\n');
  if (!isFirst && versionCue.test(text.slice(Math.max(0, start - 80), start))) return true;
  return text[end] === ' ' && versionSuffix.test(text.slice(end, end + 16));
}
const versionSuffix = /^ (?:and|or) (?:earlier|later|below|above|prior|older|newer)\b/;

/** Reads four numbers as an IPv4 address unless they are a version or part of a longer sequence. */
function readNumbers(text: string, start: number, end: number, emit: EmitCandidate): number {
  const match = matchAt(ipv4, text, start);
  if (!match || start + match[0].length !== end) return end;
  const address = match[0];
  const parts = address.split('.');
  if (parts.some((part) => Number(part) > 255 || (part.length > 1 && part.startsWith('0')))) return end;
  const before = text.slice(Math.max(0, start - 24), start);
  if (/[\d.]$|[a-z]$/i.test(before) && !/\bhttp$/.test(before)) return end;
  const doubt = getAddressDoubt(text, { start, end, parts, before });
  const rest = matchAt(afterIp, text, end)?.[0] ?? '';
  if (/^\/\d{1,2}$/.test(rest)) {
    if (rest === '/32') emit('ipv4', start, end + 3, { value: address, doubt });
    else emit('observable:cidr', start, end + rest.length, { doubt });
    return end + rest.length;
  }
  // `203.0.113.7/8080` specifies a port.
  const isPort = /^\/\d{3,5}$/.test(rest);
  if (!isPort && /^(?::\d+)?\/./.test(rest)) {
    const full = findAddressEnd(text, end);
    emit('url', start, full, { doubt });
    return full;
  }
  return readAddressRange(text, { start, end, doubt }, emit);
}

/** Reads an IPv4 address and, if it begins a range such as `203.0.113.7-9`, the addresses of the range. */
function readAddressRange(
  text: string,
  { start, end, doubt }: { start: number; end: number; doubt: number },
  emit: EmitCandidate,
): number {
  const rangeText = text.slice(start, end) + (matchAt(rangeEnd, text, end)?.[0] ?? '');
  const range = parseAddressRange(rangeText);
  if (range && (sharedBytes.test(rangeText) || !/ /.test(rangeText))) {
    const last = start + rangeText.length;
    for (const value of range) emit(value.includes('/') ? 'observable:cidr' : 'ipv4', start, last, { value, doubt });
    return last;
  }
  emit('ipv4', start, end, { doubt });
  return end;
}

/** Returns the doubt about an IPv4 address, which a version has the form of. `before` is the text before it. */
function getAddressDoubt(
  text: string,
  { start, end, parts, before }: { start: number; end: number; parts: string[]; before: string },
): number {
  let doubt = 0;
  if (isVersion(text, start, end)) doubt += 3;
  if (/(?:(?<!\/dev\/(?:tcp|udp))\/|product\s|rv:)$/i.test(before)) doubt += 2;
  // Small numbers are typical of versions and rare in addresses.
  const isCalled =
    /\b(?:ips?|address(?:es)?|hosts?|servers?|c2|c&c)[\s:=(]*$/i.test(before) ||
    /^:\d{2,5}(?!\d)/.test(text.slice(end, end + 7));
  const small = parts.filter((part) => Number(part) < 20).length;
  if (!isCalled && (small === 4 || (small === 3 && Number(parts[0]) < 12))) doubt += 1.25;
  if (Number(parts[0]) === 0) doubt += 2;
  return doubt;
}

/** Reads a mail address whose local part starts at `start`. */
export function readEmail(text: string, start: number, emit: EmitCandidate, from = start): number {
  const match = matchAt(email, text, start);
  if (!match) return from + 1;
  const end = start + match[0].replace(/[-.]+$/, '').length;
  const host = text.slice(text.indexOf('@', start) + 1, end);
  // `ssh root@203.0.113.7`
  if (isIPv4(host)) return readNumbers(text, end - host.length, end, emit);
  const last = host.split('.').at(-1)!;
  const account = /@([a-z][a-z0-9-]{4,28}[a-z0-9])\.iam\.gserviceaccount\.com$/.exec(text.slice(start, end));
  if (account) emit('gcp_project', start + account.index + 1, start + account.index + 1 + account[1]!.length);
  if (isTopLevel(last)) emit('observable:email', start, end);
  return end;
}
