import { createHash } from 'node:crypto';
import { matchAt, type EmitCandidate, type WordInfo } from '../indicator-candidate.ts';
import { getCharClass } from './char-classes.ts';
import { readDigits, readGuid, readHex, readNamedMutex } from './cued-values.ts';

/** Reads indicators that a single word forms. */
export function readWord(text: string, start: number, end: number, wordInfo: WordInfo): void {
  const length = end - start;
  const { emit } = wordInfo;
  if (wordInfo.bits & 4 && (length === 12 || length === 15)) readDigits(text, start, end, emit);
  else if (length >= 16 && length < 26 && wordInfo.bits & 2) readHex(text, start, end, emit);
  else if (length >= 26 && length <= 128) readLongWord(text, start, end, wordInfo);
  else if (length >= 3 && length <= 20 && mayBeIdentifier(text, start, end)) {
    const first = text.charCodeAt(start) | 32;
    if (length === 3) readCve(text, start, emit);
    else if (first === 0x61 || first === 0x63 || first === 0x74) readIdentifier(text, start, end, emit);
    else if (first === 0x6d) readNamedMutex(text, start, end, emit);
  }
}

/** Checks cheaply whether a word can be `CVE`, `mutex` or `mutexes`, or ends with a digit like `AS64496` and `T1059`. */
export function mayBeIdentifier(text: string, start: number, end: number): boolean {
  const length = end - start;
  const second = text.charCodeAt(start + 1) | 32;
  if (length === 3) return second === 0x76;
  if (second === 0x75 && (length === 5 || length === 7)) return true;
  return (getCharClass(text.charCodeAt(end - 1)) & 4) > 0;
}

// Typesetting can replace the hyphens by dashes or a space.
const cve = /cve[\s\u2010-\u2015\u2212-]{1,2}(\d{4})[\u2010-\u2015\u2212-](\d{4,7})(?![\w.])/iy;

function readCve(text: string, start: number, emit: EmitCandidate): void {
  const match = matchAt(cve, text, start);
  if (match) emit('cve', start, start + match[0].length, { value: `CVE-${match[1]!}-${match[2]!}` });
}

const hashByLength: Record<number, 'md5' | 'sha1' | 'sha256' | 'sha512'> = {
  32: 'md5',
  40: 'sha1',
  64: 'sha256',
  128: 'sha512',
};

/** Reads a digest, including one that names a sample (`<digest>.exe`). */
export function readDigest(start: number, word: string, emit: EmitCandidate): void {
  const type = hashByLength[word.length];
  if (type && /^[0-9a-f]+$/i.test(word)) emit(type, start, start + word.length, { doubt: hashDoubt(word) });
}

/** Words before a digest that is not the hash of a file: a commit, the boundary of a mail, an identifier of a request. */
const identifierCue =
  /\b(?:commit(?:s|ted)?(?: (?:id|hash))?|git (?:checkout|show|revert|cherry-pick|reset --hard)|boundary|e-?tag|(?:trace|request|session|transaction|correlation|message|build|job|tracking)[ _-]?id)(?: (?:is|was|of))?[\s:=`"'(]{1,3}[\w=-]{0,24}$/i;
const identifierReach = 60;

function readLongWord(text: string, start: number, end: number, { bits, emit }: WordInfo): void {
  const length = end - start;
  const hash = hashByLength[length];
  if (bits & 2) {
    if (readHex(text, start, end, emit)) return;
    if (hash && !isIdentifier(text, start)) emit(hash, start, end, { doubt: hashDoubt(text.slice(start, end)) });
    return;
  }
  const word = text.slice(start, end);
  if (length === 36 && /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(word))
    return readGuid(text, start, end, emit);
  if (length === 42 && /^0x[0-9a-f]{40}$/i.test(word)) return emit('observable:eth', start, end);
  if (length <= 35 && /^[13]/.test(word) && isBase58Address(word)) return emit('observable:btc', start, end);
  if (length <= 90 && /^bc1/i.test(word) && isBech32Address(word.toLowerCase()))
    return emit('observable:btc', start, end);
  if (length === 72 && /^T1[0-9a-f]{70}$/i.test(word)) return emit('observable:tlsh', start, end);
  if (length === 95 && /^[48][1-9A-HJ-NP-Za-km-z]{94}$/.test(word)) return emit('observable:xmr', start, end);
  // A hash after a word, as in `sample_<hash>`.
  const tail = /[_-]([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/i.exec(word)?.[1];
  if (tail && !isIdentifier(text, start))
    emit(hashByLength[tail.length]!, end - tail.length, end, { doubt: hashDoubt(tail) });
}

const isIdentifier = (text: string, start: number): boolean =>
  identifierCue.test(text.slice(Math.max(0, start - identifierReach), start));

/** Returns a high doubt for words of digits only and words with few distinct characters. */
function hashDoubt(word: string): number {
  let seen = 0;
  for (let at = 0; at < word.length; at += 1) seen |= 1 << (word.charCodeAt(at) & 31);
  let kinds = 0;
  for (; seen !== 0; seen &= seen - 1) kinds += 1;
  return kinds < 8 || /^\d+$/.test(word) ? 3 : 0;
}

function readIdentifier(text: string, start: number, end: number, emit: EmitCandidate): void {
  const word = text.slice(start, end);
  const first = word.charCodeAt(0) | 32;
  if (first === 0x63 && /^(?:cve-\d{4}-\d{4,7}|cwe-\d{1,4})$/i.test(word))
    return emit(word.length > 9 ? 'cve' : 'cwe', start, end, { value: word.toUpperCase() });
  if (first === 0x63 && /^capec-\d{1,4}$/i.test(word)) return emit('capec', start, end, { value: word.toUpperCase() });
  const system = first === 0x61 ? /^asn?(\d{2,10})$/i.exec(word) : null;
  if (system) return emit('observable:asn', start, end, { value: `AS${system[1]!}` });
  if (word.startsWith('T1') && word.length === 5 && /^T1\d{3}$/.test(word)) emit('attack', start, end);
}

const awsArn = /arn:aws[a-z-]{0,12}:[a-z0-9-]{1,40}:[a-z0-9-]{0,30}:\d{0,12}:[\w+=,.@:/*-]{1,300}/y;
const colonHex = /[0-9a-f]{2}(?::[0-9a-f]{2}){5,31}(?![0-9a-f:])/iy;
const ipv6 =
  /((?:[0-9a-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]{0,4}))(?![\w:])(\/(?:12[0-8]|1[01]\d|\d{1,2})(?![\w./-]))?/iy;
const ssdeep = /\d{2,8}:[A-Za-z0-9+/]{6,100}:[A-Za-z0-9+/]{6,100}/y;

/** Reads values that contain colons: IPv6, ssdeep, certificate fingerprints, MAC addresses, ARNs. */
export function readColons(text: string, start: number, emit: EmitCandidate): number {
  const first = text.charCodeAt(start) | 32;
  if (first === 0x61) {
    const arn = matchAt(awsArn, text, start);
    if (arn) {
      const end = start + arn[0].replace(/[.,:]+$/, '').length;
      emit('aws_arn', start, end);
      return end;
    }
  }
  const pairs = matchAt(colonHex, text, start);
  if (pairs) {
    const end = start + pairs[0].length;
    const digits = (pairs[0].length + 1) / 3;
    if (digits === 6) emit('observable:mac', start, end);
    else if (digits === 20) emit('cert_sha1', start, end);
    else if (digits === 32) emit('cert_sha256', start, end);
    else if (digits >= 8 && digits < 20 && /serial/i.test(text.slice(Math.max(0, start - 60), start)))
      emit('cert_serial', start, end);
    return end;
  }
  const address = matchAt(ipv6, text, start);
  if (address && address[1]!.length > 6) {
    const [printed, value = '', range] = address;
    const end = start + printed.length;
    const colons = value.split(':').length - 1;
    // `abc::def` is a name in code. An allocated address contains a digit.
    const isAddress = /\d/.test(value) && (colons === 7 || value.includes('::'));
    if (isAddress && range && range !== '/128') emit('observable:cidr', start, end);
    else if (isAddress) emit('ipv6', start, end, { value });
    return end;
  }
  const fuzzy = matchAt(ssdeep, text, start);
  if (!fuzzy) return start;
  emit('ssdeep', start, start + fuzzy[0].length);
  return start + fuzzy[0].length;
}

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const bech32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

/** Verifies a Base58 Bitcoin address: 25 bytes, the last four of which are the checksum. */
function isBase58Address(word: string): boolean {
  let value = 0n;
  for (const char of word) {
    const digit = base58.indexOf(char);
    if (digit < 0) return false;
    value = value * 58n + BigInt(digit);
  }
  const hex = value.toString(16);
  if (hex.length > 50) return false;
  const bytes = Buffer.from(hex.padStart(50, '0'), 'hex');
  return sha256(sha256(bytes.subarray(0, 21)))
    .subarray(0, 4)
    .equals(bytes.subarray(21));
}

/** Verifies the checksum of a `bc1` address (BIP 173, and BIP 350 for version 1 and later). */
function isBech32Address(word: string): boolean {
  const digits = Array.from(word.slice(3), (char) => bech32.indexOf(char));
  if (digits.includes(-1)) return false;
  // The first five values are the expanded prefix `bc`.
  let sum = 1;
  for (const value of [3, 3, 0, 2, 3, ...digits]) {
    const top = sum >>> 25;
    sum = ((sum & 0x1_ff_ff_ff) << 5) ^ value;
    for (const [bit, generator] of [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].entries())
      if ((top >>> bit) & 1) sum ^= generator;
  }
  return sum === (digits[0] === 0 ? 1 : 0x2bc830a3);
}

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
