import type { Schemas } from '../api/client.ts';
import { toWords } from '../lib/text.ts';

type Platform = Schemas['FeedProfile']['platforms'][number];

/** The platforms of the API as they are written, in the order in which forms list them. */
const labels: Record<Platform, string> & Record<string, string> = {
  windows: 'Windows',
  linux: 'Linux',
  macos: 'macOS',
  esxi: 'ESXi',
  'network-devices': 'Network devices',
  containers: 'Containers',
  iaas: 'IaaS',
  saas: 'SaaS',
  'identity-provider': 'Identity provider',
  'office-suite': 'Office suite',
  android: 'Android',
  ios: 'iOS',
  ics: 'ICS',
};

export const platformNames = Object.keys(labels);

/** Returns how a platform is written, such as `macOS`. Other words, such as an alias in a link, are only capitalized. */
export const platformName = (platform: string): string => labels[platform] ?? toWords(platform);
