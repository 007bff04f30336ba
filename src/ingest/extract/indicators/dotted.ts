import { isWordAt, matchAt, wordClass, type Emit } from './candidate.ts';
import { readBucketHost } from './cues.ts';
import { isCodeRoot, isDetectionName, isFileEnding, isSuspiciousTopLevel, isTopLevel } from './names.ts';
import { endOfAddress } from './url.ts';

const labelsMax = 40;
const hyphen = 0x2d;
const dot = 0x2e;

/** The end of a run of words joined by single dots. */
export function endOfDotted(text: string, start: number): number {
  let at = start;
  for (let labels = 0; labels < labelsMax; labels += 1) {
    while (wordClass(text.charCodeAt(at)) > 0) at += 1;
    if (text.charCodeAt(at) !== dot || !isWordAt(text, at + 1)) break;
    at += 1;
  }
  while (text.charCodeAt(at - 1) === hyphen) at -= 1;
  return at;
}

const email = /[\w.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/iy;
const ipv4 = /\d{1,3}(?:\.\d{1,3}){3}/y;
const afterIp = /(?:\/(?:3[0-2]|[12]?\d)(?![\w./-]))|(?::\d{1,5})?(?:\/[^\s"'<>|`]{0,2000})?/y;

/** Words joined by dots: an address, a host with or without port and path, a mail address, a file name, a version. */
export function readDotted(text: string, start: number, emit: Emit): number {
  const end = endOfDotted(text, start);
  const before = text[start - 1] ?? ' ';
  if (text[end] === '@') return readEmail(text, start, emit, end);
  const token = text.slice(start, end);
  const labels = token.split('.');
  if (labels.length < 2 || end - start > 400) return end;
  if (wordClass(text.charCodeAt(start)) & 4 && labels.every((label) => /^\d+$/.test(label)))
    return readNumbers(text, start, end, emit);
  const last = labels.at(-1)!;
  if (before === '/' || before === '\\' || before === '$' || before === '@' || before === '#') {
    if (before === '/' && isFileEnding(last)) emit('file_name', start, end, { doubt: 1.5 });
    return end;
  }
  if (isPackage(labels)) emit('android_package', start, end, { doubt: 1 });
  const doubt = doubtOfHost(text, { start, end, labels, before });
  if (doubt !== undefined) {
    readBucketHost(text, start, end, emit);
    const full = endOfAddress(text, end);
    // A port or a path behind the name makes it an address.
    if (full > end) {
      emit('url', start, full, { doubt: Math.max(0, doubt - 0.5) });
      return full;
    }
    if (isFileEnding(last) && doubt >= 1) emit('file_name', start, end, { doubt: 0.5 });
    emit('domain', start, end, { doubt });
    return end;
  }
  if ((isFileEnding(last) && isFileName(labels)) || /\.so(?:\.\d{1,4}){1,4}$/.test(token)) {
    emit('file_name', start, end);
    return end;
  }
  const embedded = token.search(/\d{1,3}(?:\.\d{1,3}){3}$/);
  if (embedded > 0 && token[embedded - 1] === '-') return readNumbers(text, start + embedded, end, emit);
  return end;
}

/** A reversed host name, as packages and bundles are named. */
const isPackage = (labels: string[]): boolean =>
  labels.length >= 3 &&
  /^(?:com|org|net|io|app|me|ru|cn|de|in|eu|tr|br)$/.test(labels[0]!) &&
  labels.every((label) => /^[a-z]\w*$/i.test(label));

/** A whole file name (`libcurl.so.4` too), not a call of a method or a bare `.js`. */
const isFileName = (labels: string[]): boolean => labels.every((label) => label.length <= 120) && labels[0]!.length > 0;

/** How much speaks against a host name, or undefined where it cannot be one. */
function doubtOfHost(
  text: string,
  { start, end, labels, before }: { start: number; end: number; labels: string[]; before: string },
): number | undefined {
  const last = labels.at(-1)!;
  if (!isTopLevel(last) && !isInternational(last)) return undefined;
  if (labels.length > 12 || labels.some((label) => label.length > 63 || /^-|-$/.test(label))) return undefined;
  if (labels.slice(-2).some((label) => label.includes('_'))) return undefined;
  // A public suffix of a country alone is nobody's name.
  if (labels.length === 2 && last.length === 2 && /^(?:com?|net|org|gov|edu|ac|mil)$/i.test(labels[0]!))
    return undefined;
  const token = text.slice(start, end);
  const hasCapital = /[A-Z]/.test(token);
  let doubt = hasCapital && isDetectionName(labels) ? 3 : 0;
  const upper = hasCapital && token === token.toUpperCase();
  if (hasCapital && last !== last.toLowerCase()) doubt += upper ? 1 : 3;
  if (isSuspiciousTopLevel(last)) doubt += isFileEnding(last) ? 3 : 1.25;
  if (hasCapital && /[a-z][A-Z]/.test(token)) doubt += last.length === 2 ? 2 : 1;
  if (hasCapital && labels.length === 2 && /^[A-Z][a-z]+$/.test(labels[0]!)) doubt += 0.5;
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

const isInternational = (label: string): boolean => /^[^\u0000-\u007F]{2,}$/u.test(label) || label.startsWith('xn--');

/** Four numbers are an address unless they are a version or a part of a longer row of numbers. */
function readNumbers(text: string, start: number, end: number, emit: Emit): number {
  const match = matchAt(ipv4, text, start);
  if (!match || start + match[0].length !== end) return end;
  const parts = match[0].split('.');
  if (parts.some((part) => Number(part) > 255 || (part.length > 1 && part.startsWith('0')))) return end;
  const before = text.slice(Math.max(0, start - 24), start);
  if (/[\d.]$|[a-z]$/i.test(before) && !/\bhttp$/.test(before)) return end;
  let doubt = 0;
  if (/\b(?:version|versions|ver|firmware|build|release|v)[.:]?\s*$/i.test(before)) doubt += 3;
  if (/(?:\/|product\s|chrome\/|rv:)$/i.test(before)) doubt += 2;
  // Versions count from small numbers, addresses seldom do.
  const isCalled =
    /\b(?:ips?|address(?:es)?|hosts?|servers?|c2|c&c)[\s:=(]*$/i.test(before) ||
    /^:\d{2,5}(?!\d)/.test(text.slice(end, end + 7));
  if (!isCalled && Number(parts[0]) < 12 && parts.filter((part) => Number(part) < 20).length >= 3) doubt += 1.25;
  if (Number(parts[0]) === 0) doubt += 2;
  const rest = matchAt(afterIp, text, end)?.[0] ?? '';
  const isRange = /^\/\d+$/.test(rest);
  if (rest !== '' && !isRange && /^(?::\d+)?\/./.test(rest)) {
    const full = endOfAddress(text, end);
    emit('url', start, full, { doubt });
    return full;
  }
  if (isRange) {
    if (rest === '/32') emit('ipv4', start, end + 3, { value: match[0], doubt });
    else emit('observable:cidr', start, end + rest.length, { doubt });
    return end + rest.length;
  }
  emit('ipv4', start, end, { doubt });
  return end;
}

/** A mail address whose local part begins at `start`. */
export function readEmail(text: string, start: number, emit: Emit, from = start): number {
  const match = matchAt(email, text, start);
  if (!match) return from + 1;
  const end = start + match[0].replace(/[-.]+$/, '').length;
  const last = text.slice(start, end).split('.').at(-1)!;
  const account = /@([a-z][a-z0-9-]{4,28}[a-z0-9])\.iam\.gserviceaccount\.com$/.exec(text.slice(start, end));
  if (account) emit('gcp_project', start + account.index + 1, start + account.index + 1 + account[1]!.length);
  if (isTopLevel(last)) emit('observable:email', start, end);
  return end;
}
