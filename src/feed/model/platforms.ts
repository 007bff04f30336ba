import names from './platform-aliases.json' with { type: 'json' };

/** The platforms of items, which are also the keys of `platformBreakdown`. */
export const platforms = [
  'windows',
  'linux',
  'macos',
  'esxi',
  'network-devices',
  'containers',
  'iaas',
  'saas',
  'identity-provider',
  'office-suite',
  'android',
  'ios',
  'ics',
] as const;
export type Platform = (typeof platforms)[number];

/** Other spellings in ATT&CK, STIX bundles and common usage, in lower case with single hyphens. */
const aliases = new Map(
  Object.entries(names).flatMap(([platform, others]) => others.map((name) => [name, platform as Platform])),
);

/** Finds a platform by name or alias, ignoring case, with spaces, underscores or slashes accepted for hyphens. */
export function findPlatform(nameOrAlias: string): Platform | undefined {
  const key = nameOrAlias
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_/]+/g, '-');
  if ((platforms as readonly string[]).includes(key)) return key as Platform;
  return aliases.get(key);
}
