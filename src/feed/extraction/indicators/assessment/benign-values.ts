import { isIPv4 } from 'node:net';
import { extractUrlHost, withoutBrackets } from '../../../../platform/lib/outbound-http/addresses.ts';
import {
  hashesOfNothing,
  pathHosting,
  projectFiles,
  publicResolvers,
  systemFiles,
  utilities,
  vendors,
  wellKnown,
} from '../../../reference-data/benign-lists.ts';
import { findSharedSuffix } from '../../../reference-data/shared-suffixes.ts';
import { reservedV4Reason, reservedV6Reason } from '../../../model/values/observables.ts';

/** Returns the reason why a normalized value is harmless or useless to block, or undefined. A URL is looked up by its host. */
export type BenignLookup = (type: string, value: string) => string | undefined;

/**
 * Returns the reason why a value that a source states as an indicator is harmless, by the shipped lists and then by `installed` ones. A page on
 * a well-known host is not harmless: the source states it on purpose. Nor are the addresses and names that are reserved for documentation: they
 * occur in exercises, and blocking them does no harm.
 */
export function findBenignReason(type: string, value: string, installed?: BenignLookup): string | undefined {
  const found = findShippedBenignReason(type, value);
  const reason = (found?.startsWith('documentation ') ? undefined : found) ?? installed?.(type, value);
  return reason !== undefined && type === 'url' && !coversPages(reason) && hasPath(value) ? undefined : reason;
}

// Nobody else can publish on hosts with these reasons.
const pageReasons = new Set(['security publisher', 'software or documentation', 'reserved name', 'documentation name']);

/** Returns whether a reason for a host applies to every page of the host: reserved addresses, publishers and documentation. */
export const coversPages = (reason: string): boolean =>
  pageReasons.has(reason) || reason.endsWith(' address') || reason === 'public resolver';

export const hasPath = (url: string): boolean => !/^\w+:\/\/[^/]+\/?$/.test(url);

/** Looks up the shipped lists. */
export const findShippedBenignReason: BenignLookup = (type, value) => {
  switch (type) {
    case 'ipv4':
      return reservedV4Reason(value) ?? (publicResolvers.has(value) ? 'public resolver' : undefined);
    case 'ipv6':
      return reservedV6Reason(value) ?? (publicResolvers.has(value) ? 'public resolver' : undefined);
    case 'domain':
      return hostReason(value);
    case 'url':
      return urlReason(value);
    case 'registry_key':
      return abbreviated.test(value) ? 'abbreviated path' : undefined;
    case 'file_name':
      if (projectFiles.has(value.toLowerCase())) return 'common file';
      if (indicatorList.test(value) || /\.yara?$/i.test(value)) return 'list of indicators';
      return systemFiles.has(value.toLowerCase()) || /^(?:api|ext)-ms-/i.test(value) ? 'system file' : undefined;
    case 'file_path':
      return pathReason(value);
    default:
      return hashesOfNothing.get(value);
  }
};

/** Returns whether anyone can publish under a path of a host. Their URLs can be indicators, the host alone cannot. */
export const isPathHosting = (host: string): boolean => hostReason(host) === 'shared hosting';

const reasonBySuffix = new Map<string, string>();
// The first list with a name provides its reason.
for (const [reason, list] of [
  ['software or documentation', utilities],
  ['security publisher', vendors],
  ['well-known host', wellKnown],
  ['shared hosting', pathHosting],
] as const)
  for (const name of list) if (!reasonBySuffix.has(name)) reasonBySuffix.set(name, reason);
for (const name of 'localhost local internal arpa'.split(' ')) reasonBySuffix.set(name, 'reserved name');
for (const name of 'example example.com example.net example.org invalid test'.split(' '))
  reasonBySuffix.set(name, 'documentation name');

/** The response team of a government: `cert-agid.gov.it`, `csirt.gob.cl`, `www.cert.ssi.gouv.fr`. */
const responseTeam =
  /(?:^|[.-])(?:cert|csirt)(?:-[a-z]{2,10})?\.(?:[a-z]{2,12}\.)?(?:gov|gouv|gob|govt|mil|go)(?:\.[a-z]{2})?$/;

/** Returns the reason for the host or its closest listed parent. A host on shared hosting is its customer's. */
function hostReason(host: string): string | undefined {
  if (responseTeam.test(host)) return 'security publisher';
  const shared = findSharedSuffix(host);
  if (host === shared || host === `www.${shared}`) return reasonBySuffix.get(host) ?? 'shared hosting';
  for (let at = -1; ;) {
    const name = at < 0 ? host : host.slice(at + 1);
    if (name === shared) return undefined;
    const reason = reasonBySuffix.get(name);
    if (reason) return reason;
    at = host.indexOf('.', at + 1);
    if (at < 0) return undefined;
  }
}

function urlReason(url: string): string | undefined {
  const host = extractUrlHost(url);
  if (isIPv4(host)) return reservedV4Reason(host);
  if (host.startsWith('[')) return reservedV6Reason(withoutBrackets(host));
  const reason = hostReason(host);
  return reason === 'shared hosting' && hasPath(url) ? undefined : reason;
}

const systemFolder =
  /^(?:(?:[a-z]:|%(?:systemdrive|homedrive)%)(?:\\(?:windows(?:\\(?:temp|tasks|system32|syswow64|sysnative))?|users(?:\\public)?|programdata|program files(?: \(x86\))?|temp|perflogs))?|%\w+%(?:\\(?:temp|tasks|system32|syswow64|sysnative|microsoft|microsoft\\windows))?)\\?$|^\/dev\/(?:null|zero|u?random|shm|tcp|fd|tty|stdin|stdout|stderr)\/?$|^\/(?:tmp|etc|opt|home|root|var(?:\/(?:tmp|www|log|run|lib))?|usr(?:\/(?:local\/)?s?bin)?|bin|sbin|Applications|Library|Users)\/?$|^\/proc(?:\/|$)|^\/etc\/(?:passwd|shadow|group|hosts|resolv\.conf|sudoers|os-release)$/i;

/** The file name of a list of indicators that a report links to. */
const indicatorList =
  /(?:^|[-_. \\/])(?:iocs?|indicators?(?:[-_]of[-_]compromise)?|stix2?|misp|yara|sigma|snort|suricata)(?:[-_.]\w{1,20}){0,3}\.(?:csv|json|txt|xlsx?|yara?|ya?ml|stix2?|pdf|zip|xml|rules)$/i;
const abbreviated = /[\\/](?:…|\.{3})(?:[\\/]|$)/;
const placeholder = /(?:^|[\\/])(?:your[-_]\w{1,30}(?:-\w{1,30})?|path[\\/]to)(?:[\\/]|$)/i;

/** A last segment that is only a variable of a script: `/tmp/$NAME`. */
const variable = /[\\/](?:\$\{?\w+\}?|%\w+%)$/;

const pathReason = (path: string): string | undefined => {
  if (indicatorList.test(path)) return 'list of indicators';
  if (abbreviated.test(path)) return 'abbreviated path';
  if (placeholder.test(path) || variable.test(path)) return 'placeholder';
  return folderReason(path);
};

const folderReason = (path: string): string | undefined =>
  systemFolder.test(path.replaceAll('\\\\', '\\')) ? 'system folder' : systemFileReason(path);

const systemFileReason = (path: string): string | undefined =>
  /^(?:%(?:systemroot|windir)%|c:\\windows)\\(?:system32|syswow64)\\[^\\]+$|^\/(?:usr\/)?s?bin\//i.test(path) &&
  systemFiles.has(path.toLowerCase().split(/[\\/]/).at(-1) ?? '')
    ? 'system file'
    : undefined;
