import { toWords } from './text.ts';

/** Names that are not written like other words. */
const spellings: Record<string, string> = {
  macos: 'macOS',
  ios: 'iOS',
  esxi: 'ESXi',
  iaas: 'IaaS',
  saas: 'SaaS',
  ics: 'ICS',
};

/** The platforms of the API, in the order in which forms list them. */
export const platformNames = [
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

/** Returns how a platform of the API is written: `macOS`, `Network devices`. */
export const platformName = (platform: string): string => spellings[platform] ?? toWords(platform);
