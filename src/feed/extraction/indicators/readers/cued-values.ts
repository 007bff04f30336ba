import { matchAt, type EmitCandidate } from '../indicator-candidate.ts';

const reach = 60;
const before = (text: string, start: number): string => text.slice(Math.max(0, start - reach), start);

/** Reads numbers that are identified by a word before them. */
export function readDigits(text: string, start: number, end: number, emit: EmitCandidate): void {
  if (end - start === 15 && /\bimei\b[^\d\n]{0,24}$/i.test(before(text, start))) emit('imei', start, end);
  if (end - start === 12 && /\b(?:aws|amazon)\b[^\d\n]{0,40}\baccounts?\b[^\d\n]{0,16}$/i.test(before(text, start)))
    emit('aws_account', start, end);
}

/** Reads certificate serial numbers and JA3 hashes. Returns whether the word is one of them. */
export function readHex(text: string, start: number, end: number, emit: EmitCandidate): boolean {
  const length = end - start;
  if (length !== 32 && length > 40) return false;
  const lead = before(text, start);
  const isSerial = /\bserial(?: number| no\.?)?["'`:=\s|]{1,8}$/i.test(lead);
  if (isSerial) emit('cert_serial', start, end);
  const isJa3 = length === 32 && /\bja3s?\b[^\n]{0,24}$/i.test(lead);
  if (isJa3) emit('observable:ja3', start, end);
  return isSerial || isJa3;
}

/** Reads a GUID that the words before it identify as an Azure tenant or application. */
export function readGuid(text: string, start: number, end: number, emit: EmitCandidate): void {
  const lead = before(text, start);
  if (/\btenant(?:\s?id)?["'`:\s=|(]{0,6}$/i.test(lead)) emit('azure_tenant', start, end);
  else if (/\b(?:app(?:lication)?|client)(?:\s?id)["'`:\s=|(]{0,6}$/i.test(lead)) emit('azure_app', start, end);
}

const mutex = /(?:Global|Local)\\[\w{}.-]{3,80}/y;

/** Reads `Global\name` and `Local\name` as a mutex if the word mutex occurs up to 200 characters before it. */
export function readMutex(text: string, start: number, emit: EmitCandidate): number {
  const match = matchAt(mutex, text, start);
  if (!match) return start;
  const end = start + match[0].replace(/[.]+$/, '').length;
  if (/\bmutex/i.test(text.slice(Math.max(0, start - 200), start))) emit('observable:mutex', start, end);
  return end;
}

const namedMutex =
  /(?:es)?(?: object)?s?,?(?:(?: is)? (?:named|called|with the name|name)|\s?[:=])?\s{0,2}(["'`\u201C\u2018]([^"'`\u201C\u201D\u2018\u2019\n]{3,80})["'`\u201D\u2019]|(?<=[:=]\s{0,2})[\w{}\\.-]{4,80})/y;

/** Reads the name after the word mutex: quoted, or after a colon. */
export function readNamedMutex(text: string, start: number, end: number, emit: EmitCandidate): void {
  if (!/^mutex(?:es)?$/i.test(text.slice(start, end))) return;
  const match = matchAt(namedMutex, text, start + 5);
  if (!match) return;
  const [printed, unquoted = '', quoted] = match;
  const name = quoted ?? unquoted.replace(/[.]+$/, '');
  // An unquoted everyday word is just the next word of the sentence.
  if (/^(?:Global|Local)\\/.test(name) || (!quoted && !/[\d_{}\\-]|[a-z][A-Z]|[A-Z]{2}/.test(name))) return;
  const from = start + 5 + printed.lastIndexOf(name);
  emit('observable:mutex', from, from + name.length);
}

const spacedHex =
  /[0-9a-f]{2}(?: [0-9a-f]{2}){15,31}(?![ -]?[0-9a-f]{2}\b)|[0-9a-f]{8}(?: [0-9a-f]{8}){3,7}(?! ?[0-9a-f]{8}\b)/iy;
const digestByDigits: Record<number, 'md5' | 'sha1' | 'sha256'> = { 32: 'md5', 40: 'sha1', 64: 'sha256' };

/** Reads a digest printed in groups, as certificate viewers and `certutil` do, after a word such as `thumbprint`. */
export function readSpacedHex(text: string, start: number, emit: EmitCandidate): number {
  const match = matchAt(spacedHex, text, start);
  if (!match) return start;
  const end = start + match[0].length;
  const value = match[0].replaceAll(' ', '');
  const type = digestByDigits[value.length];
  if (type && /\b(?:md5|sha-?(?:1|256)|hash|thumbprint|fingerprint)\b/i.test(before(text, start)))
    emit(type, start, end, { value });
  return end;
}

const agent = /Mozilla\/\d[^\n"`|\u201C\u201D]{10,240}/y;

export function readUserAgent(text: string, start: number, emit: EmitCandidate): number {
  const match = matchAt(agent, text, start);
  if (!match) return start;
  const end = start + match[0].trimEnd().length;
  emit('observable:user-agent', start, end);
  return end;
}

const hosted =
  /^([a-z0-9][a-z0-9-]{1,61}[a-z0-9])\.(?:s3(?:[.-][a-z0-9-]{4,20})?\.amazonaws\.com|blob\.core\.windows\.net)$/i;
const underPath = /\/([a-z0-9][a-z0-9._-]{1,61}[a-z0-9])(?![\w.-])/y;

/** Reads the bucket in an object store address: the first host label or the first path segment. */
export function readBucketHost(text: string, start: number, end: number, emit: EmitCandidate): void {
  const last = text.charCodeAt(end - 1) | 32;
  if (last !== 0x6d && last !== 0x74) return;
  const host = text.slice(start, end);
  const named = hosted.exec(host);
  if (named) emit('bucket', start, start + named[1]!.length);
  if (host.toLowerCase() !== 'storage.googleapis.com') return;
  const folder = matchAt(underPath, text, end);
  if (folder) emit('bucket', end + 1, end + 1 + folder[1]!.length);
}
