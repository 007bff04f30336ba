import { parseAddressRange } from '../../../model/values/networks.ts';
import { matchAt, type EmitCandidate } from '../indicator-candidate.ts';
import { findAddressEnd } from './urls.ts';

const ipv4 = /\d{1,3}(?:\.\d{1,3}){3}/y;
/** The rest of a range after its first address. With blanks, a dash can also separate two addresses. */
const rangeEnd = /[-–—]\d{1,3}(?:(?:\.\d{1,3}){3})?(?![\w-]|\.\w)| [-–—] \d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\w)/y;
const sharedBytes = /^(\d+\.\d+)\.\d+\.\d+ ?[-–—] ?\1\./;
const sharedNetwork = /^(\d+\.\d+\.\d+)\.\d+ ?[-–—] ?\1\./;
const wholeNetworks = /\.0 ?[-–—] ?\S+\.255$/;
const rangeCue = /\b(?:ranges?|blocks?|netblocks?|subnets?|networks?|from|between)[\s:]{1,3}$/i;
const afterIp = /(?:\/(?:3[0-2]|[12]?\d)(?![\w/-]|\.\w))|(?::\d{1,5})?(?:\/[^\s"'<>|`]{0,2000})?/y;

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
export function readIpv4(text: string, start: number, end: number, emit: EmitCandidate): number {
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
  if (range && isRange(text, start, rangeText)) {
    const last = start + rangeText.length;
    for (const value of range) emit(value.includes('/') ? 'observable:cidr' : 'ipv4', start, last, { value, doubt });
    return last;
  }
  emit('ipv4', start, end, { doubt });
  return end;
}

/** The name of a product that ends with `Server`. */
const productName = /(?:^|[^\w&])(?!C2|C&C|Control|The\b|Command)[A-Z][a-z]+ Server $/;

/** With blanks around the dash, two addresses are a range only in the same network, for whole networks, or behind a word for it. */
const isRange = (text: string, start: number, range: string): boolean =>
  !/ /.test(range) ||
  wholeNetworks.test(range) ||
  sharedNetwork.test(range) ||
  (sharedBytes.test(range) && rangeCue.test(text.slice(Math.max(0, start - 24), start)));

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
    (/\b(?:ips?|address(?:es)?|hosts?|servers?|c2|c&c)[\s:=(]*$/i.test(before) && !productName.test(before)) ||
    /^:\d{2,5}(?!\d)/.test(text.slice(end, end + 7));
  const small = parts.filter((part) => Number(part) < 20).length;
  if (!isCalled && (small === 4 || (small === 3 && Number(parts[0]) < 12))) doubt += 1.25;
  if (Number(parts[0]) === 0) doubt += 2;
  return doubt;
}
