import { z } from 'zod';

/** The closed value lists of the feed, ranked from lowest to highest where they have a rank. */
export const severities = ['none', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

export const itemStatuses = ['active', 'corrected', 'retracted'] as const;
export type ItemStatus = (typeof itemStatuses)[number];

/** TLP 2.0 (FIRST), least strict first. */
export const tlps = ['CLEAR', 'GREEN', 'AMBER', 'AMBER+STRICT', 'RED'] as const;
export type Tlp = (typeof tlps)[number];

export const stricterTlp = (a: Tlp, b: Tlp): Tlp => (tlps.indexOf(a) >= tlps.indexOf(b) ? a : b);

/** The stages of the Cyber Kill Chain (Lockheed Martin), in order. */
export const killChainStages = [
  'reconnaissance',
  'weaponization',
  'delivery',
  'exploitation',
  'installation',
  'command-and-control',
  'actions-on-objectives',
] as const;
export type KillChainStage = (typeof killChainStages)[number];

export const indicatorStatuses = ['active', 'expired', 'revoked', 'false_positive'] as const;

/** What a value is in the report that mentions it. */
export const valueRoles = [
  'c2',
  'payload',
  'download',
  'phishing',
  'exfiltration',
  'victim',
  'legitimate',
  'abused service',
  'sinkhole',
  'scanner',
  'research',
  'reference',
  'example',
] as const;
export type ValueRole = (typeof valueRoles)[number];

/** What a report advises its readers to do. `enforce`: turn on a protection. */
export const adviceActions = ['update', 'block', 'disable', 'hunt', 'rotate', 'isolate', 'enforce'] as const;
export type AdviceAction = (typeof adviceActions)[number];

const hostileRoles = new Set<string>(['c2', 'payload', 'download', 'phishing', 'exfiltration'] satisfies ValueRole[]);

/** Returns whether a value with a role is not the attackers'. */
export const isHarmlessRole = (role: string): boolean => !hostileRoles.has(role);

/**
 * Returns whether the words of its report make an indicator harmless. It is then a false positive in its own item only, unlike one that a list, a
 * structured source or a person calls harmless.
 */
export const isHarmlessHere = ({ status, role }: { status: string; role?: string | undefined }): boolean =>
  status === 'false_positive' && role !== undefined && isHarmlessRole(role);

/** The lists of `iocs`. */
export const buckets = [
  'ipv4',
  'ipv6',
  'domains',
  'urls',
  'hashes',
  'files',
  'registryKeys',
  'processes',
  'certs',
  'cloudIds',
  'mobileIds',
] as const;
export type Bucket = (typeof buckets)[number];

/** Frameworks of mappings for the sectors, and the countries and regions, that the source says are targeted. */
export const [targetSector, targetRegion] = ['observable:target-sector', 'observable:target-region'] as const;

/** Why a value of a log counts as a sighting of an indicator, strongest first. */
export const sightingMatches = ['exact', 'url_host', 'parent_domain', 'network'] as const;
export type SightingMatch = (typeof sightingMatches)[number];

/** Why an indicator answers a look-up. */
export const lookupMatches = [...sightingMatches, 'mail_host'] as const;
export type LookupMatch = (typeof lookupMatches)[number];

/** The comment of the attribute with an item's description in an exported MISP event. Its values and names are other attributes and tags. */
export const mispSummaryComment = 'tocsin:summary';

/** Returns the tag of the role of a value in an exported MISP event. */
export const toMispRoleTag = (role: string): string => `tocsin:role="${role}"`;

/** A TLP marking of a request: TLP 2.0, `WHITE` of TLP 1.0, or the spelling `AMBER_STRICT`. */
export const TlpInput = z.enum([...tlps, 'WHITE', 'AMBER_STRICT']);

/** Returns the TLP 2.0 marking that is stored. */
export function toStoredTlp(tlp: z.infer<typeof TlpInput>): Tlp {
  if (tlp === 'WHITE') return 'CLEAR';
  return tlp === 'AMBER_STRICT' ? 'AMBER+STRICT' : tlp;
}

/** Returns the TLP marking of a word such as `TLP:WHITE` or `amber_strict`, or undefined. */
export function findTlp(word: string): Tlp | undefined {
  const key = word
    .trim()
    .toUpperCase()
    .replace(/^TLP[:\s-]*/, '')
    .replaceAll(/[_\s-]+/g, '+');
  if (key === 'WHITE') return 'CLEAR';
  return key === 'CLEAR' || key === 'GREEN' || key === 'AMBER' || key === 'AMBER+STRICT' || key === 'RED'
    ? key
    : undefined;
}
