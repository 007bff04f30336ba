import { isIPv4 } from 'node:net';
import { findSharedSuffix } from '../../../reference-data/shared-suffixes.ts';
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
import { readIpv4 } from './ipv4-addresses.ts';
import { findAddressEnd } from './urls.ts';
import { isNamedAsFile } from './paths.ts';
import { findDottedEnd, getCharClass } from './char-classes.ts';

/** Longer tokens are not read. */
const tokenMaxChars = 400;
const indentMaxChars = 20;

const email = /[\w.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/iy;

/** Matches the first address of `203.0.113.7-203.0.113.9` or `203.0.113.7-9`. */
const rangeStart = /(\d{1,3}(?:\.\d{1,3}){3})-\d{1,3}(?:(?:\.\d{1,3}){3})?(?![\w-]|\.\w)/y;

/** Words joined by dots, and the character before them. */
type DottedToken = { start: number; end: number; labels: string[]; before: string };

/** Returns whether a dash at the start of a line belongs to a list: `-evil.example`. An option of a command follows the command. */
const isBullet = (text: string, start: number): boolean =>
  text[start] === '-' &&
  /[\p{L}\p{N}]/u.test(text[start + 1] ?? '') &&
  /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, start - indentMaxChars), start));

/** Reads words joined by dots: an IP address, a host with or without port and path, a mail address, a file name. */
export function readDotted(text: string, start: number, emit: EmitCandidate): number {
  if (isBullet(text, start)) return readDotted(text, start + 1, emit);
  const end = findDottedEnd(text, start);
  if (text[end] === '@') return readEmail(text, start, emit, end);
  if (end - start > tokenMaxChars) return end;
  const isNumberFirst = (getCharClass(text.charCodeAt(start)) & 4) > 0;
  if (isNumberFirst && isNumbers(text, start, end)) return readIpv4(text, start, end, emit);
  const labels = text.slice(start, end).split('.');
  if (labels.length < 2) return end;
  if (isNumberFirst) {
    const first = matchAt(rangeStart, text, start)?.[1];
    if (first) return readIpv4(text, start, start + first.length, emit);
  }
  return readName(text, { start, end, labels, before: text[start - 1] ?? ' ' }, emit);
}

function readName(text: string, token: DottedToken, emit: EmitCandidate): number {
  const { start, end, labels, before } = token;
  const last = labels.at(-1)!;
  if (isFileExtension(last)) readDigest(start, labels[0]!, emit);
  // The end of a name with a wildcard: `p*ell.exe`.
  if (before === '*' && /[\w\\]/.test(text[start - 2] ?? ' ')) return end;
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
  if (isInParenthesesBehindDigest(text, token)) {
    emit('file_name', start, end);
    return end;
  }
  const doubt = getHostDoubt(text, token);
  return doubt === undefined ? readFileName(text, token, emit) : readHost(text, token, doubt, emit);
}

const digestBefore = /(?:^|[^0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32}) \($/i;

/** Returns whether a name in parentheses follows a digest: `<digest> (loader.stub7)`. Any extension is possible. */
const isInParenthesesBehindDigest = (text: string, { start, end, labels, before }: DottedToken): boolean =>
  before === '(' &&
  text[end] === ')' &&
  /^[a-z]\w{0,11}$/i.test(labels.at(-1)!) &&
  digestBefore.test(text.slice(Math.max(0, start - 67), start));

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
  if (embedded > 0 && token[embedded - 1] === '-') return readIpv4(text, start + embedded, end, emit);
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

/** Returns whether a name is a reversed host name, the form of package and bundle identifiers. */
const isPackage = (labels: string[]): boolean =>
  labels.length >= 3 &&
  /^(?:com|org|net|io|app|me|ru|cn|de|in|eu|tr|br)$/.test(labels[0]!) &&
  labels.every((label) => /^[a-z]\w*$/i.test(label));

/** Returns whether a name is a complete file name (including `libcurl.so.4`), not a bare extension such as `.js`. */
const isFileName = (labels: string[]): boolean => labels.every((label) => label.length <= 120) && labels[0]!.length > 0;

const isCapital = (label: string): boolean => /^[A-Z][a-z]+$/.test(label);

/**
 * Returns a high doubt for abbreviations (`u.a`), code (`e.data`, `console.log(…)`, `System.Threading.Timer`), detection names
 * (`Backdoor.MSIL.Agent.A`), packages (`com.example.app`), glued sentences (`ended.So`) and `Booking.com`.
 */
function getFileDoubt(labels: string[], next: string): number {
  const last = labels.at(-1)!;
  if (labels.length >= 3 && isIdentifier(labels, last)) return 3;
  const isShort = labels.length === 2 && labels[0]!.length === 1 && (last.length === 1 || isMemberName(last));
  const isCalled = next === '(' && isMemberName(last);
  const isName = last === 'com' && isCapital(labels[0]!);
  const isSentence =
    /^[A-Z]/.test(last) &&
    (last.length === 1 || (isCapital(last) && (isMemberName(last.toLowerCase()) || isSuspiciousTopLevel(last))));
  return isShort || isCalled || isName || isSentence ? 2 : 0;
}

/** Returns whether three or more labels are a detection name, a package or a member of a class. */
const isIdentifier = (labels: string[], last: string): boolean =>
  (last.length <= 2 && isDetectionName(labels)) ||
  (isPackage(labels) && (last === 'app' || isMemberName(last))) ||
  (isCodeRoot(labels[0]!) && (isCapital(last) || isMemberName(last)));

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
  if (isSuspiciousTopLevel(last) && !isCustomerHost(token)) doubt += getTopLevelDoubt(labels, last);
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

/** Returns the doubt about a suspicious top-level domain. Prose and code rarely join it to a name with a hyphen or a digit. */
function getTopLevelDoubt(labels: string[], last: string): number {
  if (isFileExtension(last)) return 3;
  const name = labels.at(-2)!;
  const isHostName = /[a-z]/.test(name) && /[-\d]/.test(name) && (last.length > 2 || /^(?:cc|gg|fm)$/.test(last));
  return isHostName ? 0.75 : 1.25;
}

/** Returns whether a host is below a suffix of shared hosting, such as `name.workers.dev`. */
function isCustomerHost(token: string): boolean {
  const host = token.toLowerCase();
  const suffix = findSharedSuffix(host);
  return suffix !== undefined && suffix !== host;
}

/** Reads a mail address whose local part starts at `start`. */
export function readEmail(text: string, start: number, emit: EmitCandidate, from = start): number {
  const match = matchAt(email, text, start);
  if (!match) return from + 1;
  const end = start + match[0].replace(/[-.]+$/, '').length;
  const host = text.slice(text.indexOf('@', start) + 1, end);
  // `ssh root@203.0.113.7`
  if (isIPv4(host)) return readIpv4(text, end - host.length, end, emit);
  const last = host.split('.').at(-1)!;
  const account = /@([a-z][a-z0-9-]{4,28}[a-z0-9])\.iam\.gserviceaccount\.com$/.exec(text.slice(start, end));
  if (account) emit('gcp_project', start + account.index + 1, start + account.index + 1 + account[1]!.length);
  if (isTopLevel(last)) emit('observable:email', start, end);
  return end;
}
