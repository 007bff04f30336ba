import { ownValue } from '../../platform/lib/own-value.ts';

/** The platforms that an item may name; also the keys of `platformBreakdown`. */
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

// Other words for the same, as ATT&CK, STIX bundles and people write them; keys are lower case with single hyphens.
const aliases: Record<string, Platform> = {
  win: 'windows',
  win32: 'windows',
  'microsoft-windows': 'windows',
  'gnu-linux': 'linux',
  osx: 'macos',
  'os-x': 'macos',
  'mac-os': 'macos',
  'mac-os-x': 'macos',
  mac: 'macos',
  vmware: 'esxi',
  'vmware-esxi': 'esxi',
  network: 'network-devices',
  'network-device': 'network-devices',
  networkdevices: 'network-devices',
  router: 'network-devices',
  firewall: 'network-devices',
  vpn: 'network-devices',
  container: 'containers',
  docker: 'containers',
  kubernetes: 'containers',
  k8s: 'containers',
  aws: 'iaas',
  azure: 'iaas',
  gcp: 'iaas',
  cloud: 'iaas',
  'amazon-web-services': 'iaas',
  'google-cloud': 'iaas',
  'microsoft-azure': 'iaas',
  'identity-providers': 'identity-provider',
  idp: 'identity-provider',
  okta: 'identity-provider',
  entra: 'identity-provider',
  'entra-id': 'identity-provider',
  'azure-ad': 'identity-provider',
  m365: 'office-suite',
  o365: 'office-suite',
  office: 'office-suite',
  'office-365': 'office-suite',
  'microsoft-365': 'office-suite',
  'microsoft-office': 'office-suite',
  'google-workspace': 'office-suite',
  gworkspace: 'office-suite',
  iphone: 'ios',
  ipados: 'ios',
  'apple-ios': 'ios',
  'ics-scada': 'ics',
  scada: 'ics',
  ot: 'ics',
  plc: 'ics',
};

/** The platform that a word means, in any case and with blanks or underscores for hyphens; undefined for an unknown word. */
export function findPlatform(word: string): Platform | undefined {
  const key = word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_/]+/g, '-');
  if ((platforms as readonly string[]).includes(key)) return key as Platform;
  return ownValue(aliases, key);
}
